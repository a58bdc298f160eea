"""docs/tour.md shows what the passes do now."""

from minductor.tools.make_tour import TOUR, tour


def test_the_tour_is_up_to_date() -> None:
    """Regenerate with `python -m minductor.tools.make_tour`."""
    assert TOUR.read_text() == tour()
