"""The paper's synthetic results again: each figure computed as plain data, then drawn by `report`."""
