"""A chart is plain data: what JSON gives back is what went in."""

import json

import pytest

from stepladder.report.chart import Chart, Heat, Panel, Series

LINES = Panel(
    "lines",
    "samples",
    "accuracy",
    x_log=True,
    series=[
        Series("measured", [1.0, 10.0], [0.5, 1.0], [0.4, 0.9], [0.6, 1.0], "bai"),
        Series("bound", [1.0, 10.0], [0.7, 0.8], style="dashed"),
    ],
)
MAP = Panel(
    "stage 1",
    "next pick",
    "last pick",
    heat=Heat([[0.25, 0.75], [0.0, 1.0]], [(0, 1), (1, 1)], ["root", "0"], ["0", "EOS"]),
    steps_of="B",
)


def round_trip(chart):
    return Chart.from_json(json.loads(json.dumps(chart.to_json(), allow_nan=False)))


@pytest.mark.parametrize("panels", [[], [LINES], [MAP], [LINES, MAP, LINES]], ids=len)
def test_a_chart_survives_json(panels):
    chart = Chart("name", "Title", "Caption.", "Fig. 1", panels)
    again = round_trip(chart)
    assert again.to_json() == json.loads(json.dumps(chart.to_json()))
    assert round_trip(again) == again
    assert (again.name, again.title, again.caption, again.paper) == ("name", "Title", "Caption.", "Fig. 1")
    assert [panel.series for panel in again.panels] == [panel.series for panel in panels]
    assert [panel.steps_of for panel in again.panels] == [panel.steps_of for panel in panels]


def test_the_cells_of_a_map_survive_json_as_pairs():
    (panel,) = round_trip(Chart("name", "Title", "Caption.", "Fig. 1", [MAP])).panels
    assert [tuple(cell) for cell in panel.heat.path] == [(0, 1), (1, 1)]
    assert panel.heat.values == MAP.heat.values


def test_a_field_that_no_chart_has_is_refused_and_not_dropped():
    data = Chart("name", "Title", "Caption.", "Fig. 1", [LINES]).to_json()
    with pytest.raises(TypeError, match="colour"):
        Chart.from_json({**data, "colour": "red"})
    with pytest.raises(TypeError, match="colour"):
        Chart.from_json({**data, "panels": [{**data["panels"][0], "colour": "red"}]})
