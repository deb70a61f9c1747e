"""The report in a real browser: complete, quiet, usable by mouse and keyboard, from disk without network."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from stepladder.errors import InputError
from stepladder.report.chart import Chart, Heat, Panel, Series
from stepladder.report.reproduction_page import build_page, write_report
from stepladder.report.style import COLOURS
from stepladder.reproduce.run import Reproduction, reproduce

BOTH_WIDTHS = pytest.mark.parametrize("width", [1200, 400])


# ---- pages


def lines(title: str, **more: Any) -> Panel:
    x = [10.0, 100.0, 1000.0]
    series = [
        Series("A", x, [0.5, 0.625, 0.7], [0.4, 0.5, 0.6], [0.6, 0.7, 0.8], "no_curriculum"),
        Series("A, 10 trials", x, [0.6, 0.5, 0.8], method="no_curriculum", style="faint"),
        Series("B", x, [0.5, 0.8, 1.0], method="depth_increasing"),
        Series("C", x, [0.6, 0.7, 0.9], method="hint_decreasing", style="points"),
        Series("bound", x, [0.2, 0.4, 0.6], style="dashed"),
        Series("pick 1", x, [0.3, 0.5, 0.7]),
    ]
    return Panel(title, "samples per stage", "accuracy", series=series, **more)


def heat_map(title: str, lead: float, steps_of: str | None = None) -> Panel:
    rest = (1 - lead) / 3
    values = [[lead if column == row else rest for column in range(4)] for row in range(4)]
    heat = Heat(values, [(0, 0), (1, 1)], ["root", "0", "1", "2"], ["0", "1", "2", "EOS"])
    return Panel(title, "next pick", "last pick", heat=heat, steps_of=steps_of)


def row(setting: str, method: str, published: int, fixed_n: int) -> dict[str, Any]:
    return {
        "setting": setting,
        "method": method,
        "unit": "samples per stage",
        "published": published,
        "fixed_n": fixed_n,
        "first_hit": 5,
        "first_hit_range": [2, 9],
        "verdict": f"a fixed n needs {fixed_n / published:.1f} times more",
    }


CHARTS = [
    Chart(
        "curves",
        "Curves",
        "What curves show.",
        "Fig. 1",
        [lines("d = 8", x_log=True), lines("d = 16", y_log=True)],
    ),
    Chart(
        "stages",
        "Stages",
        "What maps show.",
        "Fig. 2",
        [
            *(heat_map(f"B: after stage {stage}", 0.25 + 0.25 * stage, "B") for stage in range(4)),
            *(heat_map(f"C: after stage {stage}", 0.9 - 0.2 * stage, "C") for stage in range(3)),
        ],
    ),
    Chart("maps", "Maps", "Maps by themselves.", "beyond the paper", [heat_map("A", 0.4), heat_map("B", 0.7)]),
]
PUBLISHED = [
    row("d = 16, k = 2", "depth_increasing", 120, 1_024),
    row("d = 8, k = 3", "no_curriculum", 1_600_076, 33_554_432),
    row("d = 32, k = 2", "hint_decreasing", 9, 2_897),
]
ABOUT = {"run": {"seconds in all": "104.1", "seconds, curves": "9.5"}, "speed": "Fast."}


def results(charts: list[Chart], published: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    found = {"quick": True, "seed": 3, "figures": {chart.name: chart.to_json() for chart in charts}}
    return found if published is None else {**found, "published": published}


HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    "<!-- <script>",
    "<img src=x onerror='window.hacked = 1'>",
    "/*JS*/ /*PLOTLY*/ /*CSS*/ /*DATA*/",
    "\\u003c \u2028 \u2029 ' \" ` ${window.hacked = 1} &lt; ümläut 漢",
)


def hostile() -> dict[str, Any]:
    charts = [
        Chart(
            f"chart-{number}",
            f"T {text}",
            f"C {text}",
            f"P {text}",
            [lines(f"Panel {text}"), heat_map(text, 0.5)],
        )
        for number, text in enumerate(HOSTILE)
    ]
    rows = [{**row("d = 8", "bai", 1, 2), "verdict": text} for text in HOSTILE]
    return results(charts, rows)


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages by name, each in a folder of its own; `real` is a run's."""
    folder = tmp_path_factory.mktemp("pages")
    made = {
        "synthetic": (results(CHARTS, PUBLISHED), ABOUT),
        "subset": (results(CHARTS[:1]), {}),
        "table only": (results([], PUBLISHED), None),
        "hostile": (hostile(), {"run": {text: text for text in HOSTILE}, "speed": HOSTILE[0]}),
    }
    found = {}
    for name, (data, about) in made.items():
        run = folder / name
        run.mkdir()
        (run / "results.json").write_text(json.dumps(data))
        if about is not None:
            (run / "run.json").write_text(json.dumps(about))
        found[name] = write_report(run)
    real = folder / "real"
    reproduce(Reproduction(real, ("attention-stages", "margins"), quick=True))
    found["real"] = write_report(real)
    return found


@pytest.fixture
def synthetic(chromium: Any, pages: dict[str, Path]) -> Any:
    """A browser that shows the synthetic page, untouched; a test may do to it what it likes."""
    chromium.open(pages["synthetic"])
    return chromium


@pytest.fixture
def still(chromium: Any, pages: dict[str, Path]) -> Any:
    """A browser that shows the synthetic page, to look at only."""
    chromium.show(pages["synthetic"])
    return chromium


@pytest.fixture(scope="session", params=["synthetic", "subset", "table only", "hostile", "real"])
def name(request: pytest.FixtureRequest) -> str:
    """Every page in turn; a session's fixture, so that a page's tests run one after the other."""
    return request.param


# ---- complete, quiet, contained


@pytest.mark.browser
def test_a_page_loads_without_a_word_on_the_console_or_a_request_to_anyone(chromium, pages, name):
    chromium.shown = None
    chromium.show(pages[name])
    asked = chromium.requests()
    assert pages[name].as_uri() in asked
    assert {urlsplit(url).scheme for url in asked} <= {"file", "data", "blob"}
    assert [url for url in asked if url.startswith("file:")] == [pages[name].as_uri()]
    assert chromium.messages() == []


@pytest.mark.browser
def test_every_figure_has_marks(chromium, pages, name):
    chromium.show(pages[name])
    found = chromium.js(
        """return [...document.querySelectorAll(".plot")].map((plot) => ({
            map: plot._fullData[0].type === "heatmap",
            traces: plot.data.length,
            drawn: plot.querySelectorAll(".scatterlayer .trace").length,
            paths: [...plot.querySelectorAll(".scatterlayer .trace")].filter(
                (trace) => trace.querySelector("path[d^=M]")).length,
            images: [...plot.querySelectorAll(".heatmaplayer image")].filter(
                (image) => image.getBoundingClientRect().width > 50).length,
            squares: plot.querySelectorAll(".shapelayer path").length,
        }))"""
    )
    data = json.loads((pages[name].parent / "results.json").read_text())
    panels = [panel for chart in data["figures"].values() for panel in chart["panels"]]
    sliders = {panel["steps_of"] for panel in panels} - {None}
    steps = [panel for panel in panels if panel["steps_of"]]
    assert len(found) == len(panels) - len(steps) + len(sliders)
    for plot in found:
        if plot["map"]:
            assert plot["images"] == 1
            assert plot["squares"] >= 2
        else:
            assert plot["drawn"] == plot["paths"] == plot["traces"] >= 2


@pytest.mark.browser
def test_a_page_shows_each_figure_with_title_caption_source_and_command(still):
    for chart in CHARTS:
        section = still.one(f"section#{chart.name}")
        assert section.find_element("css selector", "h2").text == chart.title
        assert section.find_element("css selector", "figcaption").text == chart.caption
        assert chart.paper in section.text
        assert f"stepladder reproduce {chart.name} --quick --seed 3" in section.text
    assert still.one("#summary").text == "A quick look: small samples, wide error bars. Seed 3. Fast."
    assert "seconds, curves" in still.one("#run").text


@pytest.mark.browser
def test_the_contents_lead_to_every_section_in_order(still):
    links = [link.get_dom_attribute("href") for link in still.all("nav a")]
    assert links == [f"#{section.get_dom_attribute('id')}" for section in still.all("main section")]
    assert links == ["#published", "#curves", "#stages", "#maps", "#run"]


@pytest.mark.browser
def test_files_that_a_runs_page_links_to_exist(chromium, pages):
    chromium.show(pages["real"])
    links = chromium.js("return [...document.querySelectorAll('a')].map((link) => link.href)")
    files = {Path(unquote(urlsplit(link).path)) for link in links}
    assert all(link.startswith("file:") for link in links)
    assert all(path.is_file() for path in files)
    names = {str(path.relative_to(pages["real"].parent)) for path in files}
    assert names == {"report.html"} | {
        f"{name.format(figure)}"
        for figure in ("attention-stages", "margins")
        for name in ("{}.png", "{}.svg", "data/{}.json")
    }


@pytest.mark.browser
@pytest.mark.parametrize("name", ["subset", "table only"])
def test_what_a_run_did_not_make_leaves_no_empty_section(chromium, pages, name):
    chromium.show(pages[name])
    sections = [section.get_dom_attribute("id") for section in chromium.all("main section")]
    assert ("published" in sections) == (name == "table only")
    assert ("curves" in sections) == (name == "subset")
    for table in chromium.all("table"):
        assert table.find_elements("css selector", "tbody tr")


@pytest.mark.browser
def test_nothing_on_the_page_offers_to_send_a_chart_away(still):
    titles = still.js(
        "return [...document.querySelectorAll('.modebar-btn')].map((button) => button.dataset.title)"
    )
    assert "Zoom" in titles
    assert not [
        title for title in titles if any(word in title for word in ("Share", "cloud", "Edit", "studio"))
    ]
    assert not still.js(
        "return [...document.querySelectorAll('.plot')].some((plot) => plot._context.showSendToCloud)"
    )


@pytest.mark.browser
def test_text_in_the_data_stays_text(chromium, pages):
    chromium.show(pages["hostile"])
    assert chromium.js("return window.hacked") is None
    titles = [title.text for title in chromium.all("main h2")]
    assert titles[1:-1] == [f"T {' '.join(text.split())}" for text in HOSTILE]
    captions = chromium.js(
        "return [...document.querySelectorAll('figcaption')].map((caption) => caption.textContent)"
    )
    assert captions == [f"C {text}" for text in HOSTILE]
    assert sorted(chromium.column("#published", 8)) == sorted(HOSTILE)
    assert not chromium.all("main img")


# ---- figures that can be read closely


def slider_state(browser: Any, figure: str, number: int = 0) -> tuple[list[Any], str, str]:
    """The map's values, the label beside the slider and its position."""
    return browser.js(
        """const box = document.querySelectorAll(`#${arguments[0]} .panel`)[arguments[1]];
        return [box.querySelector(".plot").data[0].z, box.querySelector("output").textContent,
                box.querySelector("input").value];""",
        figure,
        number,
    )


@pytest.mark.browser
def test_arrow_keys_step_through_the_stages_of_a_map(synthetic):
    from selenium.webdriver.common.keys import Keys

    stages = [panel for panel in CHARTS[1].panels if panel.steps_of == "B"]
    slider = synthetic.all("#stages input[type=range]")[0]
    other = slider_state(synthetic, "stages", 1)
    seen = [slider_state(synthetic, "stages")]
    for key in (
        Keys.ARROW_RIGHT,
        Keys.ARROW_RIGHT,
        Keys.ARROW_RIGHT,
        Keys.ARROW_RIGHT,
        Keys.ARROW_LEFT,
        Keys.HOME,
    ):
        slider.send_keys(key)
        seen.append(slider_state(synthetic, "stages"))
    expected = [stages[i] for i in (0, 1, 2, 3, 3, 2, 0)]
    assert [state[0] for state in seen] == [panel.heat.values for panel in expected]
    assert [state[1] for state in seen] == [panel.title for panel in expected]
    assert slider_state(synthetic, "stages", 1) == other


@pytest.mark.browser
def test_a_click_on_the_slider_changes_the_picture_of_the_map(synthetic):
    from selenium.webdriver import ActionChains

    def picture() -> str:
        return synthetic.js("return document.querySelector('#stages .heatmaplayer image').getAttribute('href')")

    before = picture()
    slider = synthetic.all("#stages input[type=range]")[0]
    synthetic.reveal(slider)
    right_end = slider.size["width"] // 2 - 2
    ActionChains(synthetic.driver).move_to_element_with_offset(slider, right_end, 0).click().perform()
    assert slider_state(synthetic, "stages")[2] == "3"
    assert picture() != before


@pytest.mark.browser
def test_the_slider_has_a_name_and_says_where_it_is(still):
    labels = [slider.get_dom_attribute("aria-label") for slider in still.all("input[type=range]")]
    assert labels == ["stage of B", "stage of C"]
    for output in still.all("output"):
        assert output.get_dom_attribute("aria-live") == "polite"


@pytest.mark.browser
def test_a_click_on_the_legend_hides_a_series_and_another_brings_it_back(synthetic):
    def shown() -> list[bool]:
        return synthetic.js(
            """const plot = document.querySelector("#curves .plot");
            return [plot._fullData.map((trace) => trace.visible === true),
                    plot.querySelectorAll(".scatterlayer .trace").length]"""
        )

    assert shown() == [[True] * 6, 6]
    synthetic.click(synthetic.all("#curves .plot .legendtoggle")[2])
    synthetic.wait("return document.querySelector('#curves .plot')._fullData[2].visible === 'legendonly'")
    assert shown() == [[True, True, False, True, True, True], 5]
    time.sleep(0.5)  # Two quick clicks would count as a double click, which shows one series alone.
    synthetic.click(synthetic.all("#curves .plot .legendtoggle")[2])
    synthetic.wait("return document.querySelector('#curves .plot')._fullData[2].visible === true")


@pytest.mark.browser
@pytest.mark.parametrize(
    ("figure", "words"), [("curves", ["A", "0.625", "bound"]), ("maps", ["last pick", "probability"])]
)
def test_hovering_shows_the_values(synthetic, figure, words):
    from selenium.webdriver import ActionChains

    plot = synthetic.one(f"#{figure} .plot .nsewdrag")
    synthetic.reveal(plot)
    ActionChains(synthetic.driver).move_to_element(plot).move_by_offset(3, 2).perform()
    layer = f"document.querySelector('#{figure} .plot .hoverlayer').textContent"
    synthetic.wait(f"return {layer} !== ''")
    text = synthetic.js(f"return {layer}")
    assert all(word in text for word in words)


@pytest.mark.browser
def test_dragging_zooms_and_a_double_click_shows_everything_again(synthetic):
    from selenium.webdriver import ActionChains

    def span() -> float:
        low, high = synthetic.js("return document.querySelector('#curves .plot')._fullLayout.xaxis.range")
        return high - low

    plot = synthetic.one("#curves .plot .nsewdrag")
    synthetic.reveal(plot)
    whole = span()
    drag = ActionChains(synthetic.driver).move_to_element(plot).click_and_hold()
    drag.move_by_offset(60, 50).release().perform()
    synthetic.wait(
        "const [a, b] = document.querySelector('#curves .plot')._fullLayout.xaxis.range;"
        "return b - a < arguments[0] / 1.5",
        whole,
    )
    time.sleep(0.5)
    ActionChains(synthetic.driver).move_to_element(plot).double_click().perform()
    synthetic.wait(
        "const [a, b] = document.querySelector('#curves .plot')._fullLayout.xaxis.range;"
        "return Math.abs(b - a - arguments[0]) < 1e-6",
        whole,
    )


@pytest.mark.browser
def test_a_method_has_one_colour_in_every_plot(chromium, pages):
    for name in ("synthetic", "real"):
        chromium.show(pages[name])
        drawn = chromium.js(
            """return [...document.querySelectorAll(".plot")].flatMap((plot) => plot.data)
                .filter((trace) => trace.type === "scatter")
                .map((trace) => [trace.name, trace.line.color, trace.marker.color])"""
        )
        data = json.loads((pages[name].parent / "results.json").read_text())
        series = [s for c in data["figures"].values() for p in c["panels"] for s in p["series"]]
        assert [trace[0] for trace in drawn] == [one["name"] for one in series]
        for (_, line, marker), one in zip(drawn, series, strict=True):
            assert line == marker
            if one["method"]:
                assert line == COLOURS[one["method"]]


# ---- tables


def head(browser: Any, table: str, title: str) -> Any:
    return next(one for one in browser.all(f"{table} th button") if one.text.startswith(title))


@pytest.mark.browser
@pytest.mark.parametrize(("title", "number", "ascending"), [
    ("published", 4, ["9", "120", "1,600,076"]),
    ("fixed n", 5, ["1,024", "2,897", "33,554,432"]),
    ("setting", 1, ["d = 8, k = 3", "d = 16, k = 2", "d = 32, k = 2"]),
    ("method", 2, ["A: no curriculum", "B: depth-increasing", "C: hint-decreasing"]),
])  # fmt: skip
def test_a_table_sorts_both_ways_and_numbers_as_numbers(synthetic, title, number, ascending):
    button = head(synthetic, "#published", title)
    state = synthetic.all("#published th")[number - 1]
    assert state.get_dom_attribute("aria-sort") == "none"
    synthetic.click(button)
    assert synthetic.column("#published", number) == ascending
    assert state.get_dom_attribute("aria-sort") == "ascending"
    synthetic.click(button)
    assert synthetic.column("#published", number) == ascending[::-1]
    assert state.get_dom_attribute("aria-sort") == "descending"
    whole_rows = set(zip(*(synthetic.column("#published", i) for i in (1, 4, 5)), strict=True))
    assert ("d = 8, k = 3", "1,600,076", "33,554,432") in whole_rows


@pytest.mark.browser
def test_seconds_in_the_table_of_the_run_sort_as_numbers(synthetic):
    synthetic.click(head(synthetic, "#run", "value"))
    assert synthetic.column("#run", 2) == ["9.5", "104.1"]


@pytest.mark.browser
def test_a_table_sorts_by_keyboard_and_one_column_at_a_time(synthetic):
    from selenium.webdriver.common.keys import Keys

    synthetic.click(head(synthetic, "#published", "method"))
    head(synthetic, "#published", "published").send_keys(Keys.ENTER)
    assert synthetic.column("#published", 4) == ["9", "120", "1,600,076"]
    sorted_by = [one.get_dom_attribute("aria-sort") for one in synthetic.all("#published th")]
    assert sorted_by.count("none") == len(sorted_by) - 1


# ---- light and dark, small and large, with and without sight


def colours(browser: Any) -> tuple[str, str, str, list[str]]:
    """Background, ink, the plots' ink and the plots' lines."""
    return browser.js(
        """const style = getComputedStyle(document.body);
        const plot = document.querySelector("#curves .plot");
        return [style.backgroundColor, style.color, plot._fullLayout.font.color,
                plot.data.map((trace) => trace.line.color)]"""
    )


@pytest.mark.browser
def test_the_button_switches_between_light_and_dark_and_back(synthetic):
    from selenium.webdriver.common.keys import Keys

    light = colours(synthetic)
    button = synthetic.one("#theme")
    synthetic.click(button)
    dark = colours(synthetic)
    assert all(one != other for one, other in zip(light[:3], dark[:3], strict=True))
    assert light[3] == dark[3]
    button.send_keys(Keys.ENTER)
    assert colours(synthetic) == light


@pytest.mark.browser
def test_the_page_starts_as_the_reader_prefers(chromium, pages):
    found = {}
    for dark in (True, False):
        chromium.show(pages["synthetic"], dark=dark)
        found[dark] = colours(chromium)
    assert sum(_channels(found[True][0])) < 200 < sum(_channels(found[False][0]))


@pytest.mark.browser
def test_a_switch_of_theme_keeps_the_stage_of_a_map(synthetic):
    from selenium.webdriver.common.keys import Keys

    synthetic.all("#stages input[type=range]")[0].send_keys(Keys.ARROW_RIGHT)
    before = slider_state(synthetic, "stages")
    synthetic.click(synthetic.one("#theme"))
    assert slider_state(synthetic, "stages") == before


def _channels(colour: str) -> list[float]:
    return [float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]


def contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio of two colours."""

    def luminance(colour: str) -> float:
        parts = [part / 255 for part in _channels(colour)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_has_a_contrast_of_at_least_4_5_to_1(chromium, pages, dark):
    chromium.show(pages["synthetic"], dark=dark)
    page, card = chromium.js(
        """return [getComputedStyle(document.body).backgroundColor,
                   getComputedStyle(document.querySelector(".panel")).backgroundColor]"""
    )
    for selector, behind in (
        ("p", page),
        ("figcaption", page),
        ("a[href^='#']", page),
        ("p.soft", page),
        ("td", page),
        ("th button", page),
        (".panel h3", card),
        ("output", card),
        ("#theme", card),
        ("code", card),
    ):
        ink = chromium.js("return getComputedStyle(document.querySelector(arguments[0])).color", selector)
        assert contrast(ink, behind) >= 4.5, selector


@pytest.mark.browser
@pytest.mark.parametrize("name", ["synthetic", "hostile", "real"])
@pytest.mark.parametrize("width", [400, 1200])
def test_nothing_is_wider_than_the_window(chromium, pages, name, width):
    chromium.show(pages[name], width=width)
    inner, scroll = chromium.js("return [innerWidth, document.documentElement.scrollWidth]")
    assert inner == width
    assert scroll <= inner
    outside = chromium.js(
        """const boxes = "h1, h2, h3, p, figcaption, code, .panel, .plot, .main-svg, .slider, .scroll";
        return [...document.querySelectorAll(boxes)]
            .filter((node) => node.getBoundingClientRect().right > innerWidth + 0.5
                           || node.getBoundingClientRect().left < -0.5)
            .map((node) => node.outerHTML.slice(0, 80))"""
    )
    assert outside == []


@pytest.mark.browser
def test_turning_the_phone_fits_the_plots_to_the_new_width(synthetic):
    synthetic.size(400)
    synthetic.wait(
        """return [...document.querySelectorAll(".plot")].every((plot) =>
            Math.abs(plot._fullLayout.width - plot.clientWidth) <= 1 && plot.clientWidth < 400)"""
    )
    assert synthetic.js("return document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.browser
@BOTH_WIDTHS
def test_the_legend_covers_neither_the_axis_nor_its_title(chromium, pages, width):
    chromium.show(pages["real"], width=width)
    overlaps = chromium.js(
        """return [...document.querySelectorAll(".plot")].filter((plot) => plot.querySelector(".legend"))
            .map((plot) => plot.querySelector(".legend").getBoundingClientRect().top
                - plot.querySelector(".xtitle").getBoundingClientRect().bottom)"""
    )
    assert overlaps
    assert min(overlaps) >= -1


@pytest.mark.browser
def test_every_plot_is_an_image_with_words_and_every_control_has_a_name(still):
    plots = still.all(".plot")
    assert {plot.get_dom_attribute("role") for plot in plots} == {"img"}
    labels = [plot.get_dom_attribute("aria-label") for plot in plots]
    assert len(set(labels)) == len(labels)
    assert labels[0] == "Curves, d = 8. What curves show."
    for control in still.all("button, input"):
        assert control.text.strip() or control.get_dom_attribute("aria-label")
    assert still.js("return document.documentElement.lang") == "en"
    assert still.js("return document.title")


@pytest.mark.browser
def test_headings_are_in_order_and_ids_unique(chromium, pages, name):
    chromium.show(pages[name])
    levels = chromium.js(
        "return [...document.querySelectorAll('h1, h2, h3, h4')].map((h) => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = chromium.js("return [...document.querySelectorAll('main [id], main, nav [id]')].map((n) => n.id)")
    own = [one for one in ids if one]
    assert len(own) == len(set(own))


@pytest.mark.browser
def test_the_keyboard_reaches_the_figures_first_and_then_every_control(synthetic):
    from selenium.webdriver.common.keys import Keys

    reached = []
    for _ in range(30):
        synthetic.driver.switch_to.active_element.send_keys(Keys.TAB)
        reached.append(
            synthetic.js(
                "const node = document.activeElement; return node.id || node.className || node.tagName"
            )
        )
    assert reached[0] == "skip"
    assert "theme" in reached
    assert "scroll" in reached
    controls = synthetic.js(
        """const all = [...document.querySelectorAll("main button, main input, main a")];
        return all.filter((node) => node.tabIndex < 0 && !node.closest(".plot")).length"""
    )
    assert controls == 0


# ---- without a browser


def test_the_page_is_under_five_megabytes_and_has_no_address_to_load_from(pages):
    for page in pages.values():
        assert page.stat().st_size < 5_000_000
    text = build_page(results([], []), {})
    start, end = text.index('id="plotly">'), text.index("</script>", text.index('id="plotly">'))
    own = text[:start] + text[end:]
    assert "http" not in own
    assert "src=" not in own


def test_the_same_data_give_the_same_page():
    data = results(CHARTS, PUBLISHED)
    assert build_page(data, ABOUT) == build_page(json.loads(json.dumps(data)), dict(ABOUT))


def test_a_full_run_is_not_called_a_quick_look():
    data = results(CHARTS[:1])
    assert "A quick look" in build_page(data, {})
    assert "A quick look" not in build_page({**data, "quick": False}, {})


def test_the_page_is_built_from_the_folder_alone_and_says_where_it_is(tmp_path):
    (tmp_path / "results.json").write_text(json.dumps(results(CHARTS[:1])))
    page = write_report(tmp_path)
    assert page == tmp_path / "report.html"
    assert page.read_text(encoding="utf-8") == build_page(results(CHARTS[:1]), {})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "results.json"]


BROKEN = {
    "cut short": '{"quick": true, "fig',
    "of another command": '{"method": "bai", "accuracy": {"mean": 1.0}}',
    "not an object": "[1, 2]",
    "without figures": '{"quick": true, "seed": 0}',
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_results_that_are_no_reproductions_are_refused_in_one_line(tmp_path, content):
    (tmp_path / "results.json").write_text(content)
    with pytest.raises(InputError) as refusal:
        write_report(tmp_path)
    assert "\n" not in str(refusal.value)
    assert "results.json" in str(refusal.value)
    assert not (tmp_path / "report.html").exists()


def test_a_folder_without_results_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(InputError, match=r"holds no results\.json; run `stepladder reproduce"):
        write_report(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
