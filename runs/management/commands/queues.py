"""What waits in which queue, and who takes it."""

from __future__ import annotations

from typing import Any

import redis
from django.utils import timezone

from benchmark.management.door import Door
from runs import liveness, workers


class Command(Door):
    """`proofroom queues`."""

    help = "Say how many steps wait and run in each queue, and which workers live."
    example = "proofroom queues --json"

    def handle(self, *args: Any, **options: Any) -> None:
        steps = workers.steps_by_queue(now=timezone.now())
        try:
            living = liveness.living()
        except redis.RedisError as error:
            self.failed_job(f"Redis cannot be asked who lives: {error}; check REDIS_URL.")
        takers = {queue: sum(queue in worker.queues for worker in living) for queue in steps}
        document = {
            "queues": {
                queue.value: {"waiting": found.waiting, "running": found.running, "workers": takers[queue]}
                for queue, found in steps.items()
            },
            "workers": [
                {
                    "name": worker.name,
                    "queues": [queue.value for queue in worker.queues],
                    "threads": worker.threads,
                    "browsers": worker.browsers,
                    "heard_seconds_ago": round(worker.heard, 1),
                }
                for worker in living
            ],
        }
        lines = [
            f"{queue.value:>8}: {found.waiting} waiting, {found.running} running, taken by {takers[queue]}"
            for queue, found in steps.items()
        ]
        self.answer(document, text="\n".join(lines))
