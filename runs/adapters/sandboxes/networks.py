"""The ways out of a box: what its network names, served by this process at loopback addresses inside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runs.adapters.sandboxes.box import Box
from runs.adapters.sandboxes.boxed import WayOut
from runs.adapters.sandboxes.environment import NETWORK_VARIABLES
from runs.adapters.sandboxes.forwarding import ForwardProxy, Place, StraightWay

_PROXY_PORT = 41080


def network_of(box: Box, env: Mapping[str, str]) -> tuple[tuple[WayOut, ...], dict[str, str]]:
    """Return the ways out of a box, and the environment by which programs inside find them."""
    ways = tuple(_ways_out(box))
    env = {name: value for name, value in env.items() if name not in NETWORK_VARIABLES}
    if any(way.port == _PROXY_PORT for way in ways):
        env |= _proxy_variables()
    return ways, env


def is_name(host: str) -> bool:
    """Answer whether a host is a name that a box has to be told the address of."""
    return host != "localhost" and ":" not in host and not host.replace(".", "").isdigit()


def _ways_out(box: Box) -> Iterator[WayOut]:
    network = box.network
    places = {Place.of(address) for address in network.registries}
    at_the_same_address = {place for place in places if place.is_loopback}
    if network.endpoint:
        place = Place.of(network.endpoint)
        places.add(place)
        if place.is_loopback or is_name(place.host):
            at_the_same_address.add(place)
    for place in sorted(at_the_same_address):
        host = place.host if place.is_loopback and place.host != "localhost" else "127.0.0.1"
        yield WayOut(host=host, port=place.port, visit=StraightWay(place=place).visit)
    places -= {place for place in places if place.is_loopback}
    if places:
        yield WayOut(host="127.0.0.1", port=_PROXY_PORT, visit=ForwardProxy(allowed=frozenset(places)).visit)


def _proxy_variables() -> dict[str, str]:
    proxy = f"http://127.0.0.1:{_PROXY_PORT}"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
    return {
        **dict.fromkeys(names, proxy),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1,::1"),
        "NODE_USE_ENV_PROXY": "1",
    }
