"""Mining: defects are drawn, tried in containers, and kept where upstream's tests notice them."""

from sandbox.run.mine.at_once import at_once
from sandbox.run.mine.masking import masking
from sandbox.run.mine.mine import Miner, Order
from sandbox.run.mine.recorded_calls import recordable
from sandbox.run.mine.wide import wide

__all__ = ["Miner", "Order", "at_once", "masking", "recordable", "wide"]
