"""Learning on trees: REINFORCE with no curriculum, depth-increasing and hint-decreasing stages."""
