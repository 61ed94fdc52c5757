import pytest
from tests.permission_sweep import staged, PERSONS
pytestmark = pytest.mark.django_db
def test_x():
    stage = staged()
    seen = set()
    out = open("/tmp/sweep.txt", "w")
    for door in stage.doors():
        if door.name == "admin" and "admin" in seen: continue
        seen.add(door.name)
        if door.name in ("runs:preview_start", "annotation:preview_start","annotation:preview_reset","sign_out"): 
            print(door, file=out); continue
        row = []
        for person in PERSONS:
            try:
                row.append(stage.asked(person, door))
            except Exception as e:
                row.append(repr(e)[:60])
        print(f"{door.name:60} {row}", file=out, flush=True)
