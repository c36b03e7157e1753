/** The rules for deliveries with keys, with separate lines in the order in which deliveries came or were replayed. */
import type { Actor, Delivery } from './rows.ts'
import { Violation } from './violation.ts'

/** One line for each key of a lane: the deliveries that have not ended, the first in front. */
export class OrderRules {
  readonly #lines = new Map<string, string[]>()
  readonly #frontSince = new Map<string, number>()

  /** A delivery changed its state. */
  moved(row: Delivery, by: Actor, now: number): void {
    if (row.order_key === null) return
    const key = `${row.lane} ${row.order_key}`
    const line = this.#lines.get(key) ?? []
    this.#lines.set(key, line)
    const front = line[0]
    if (by.act === 'ingest' || by.act === 'replay') line.push(row.delivery_id)
    else if (row.state === 'sending' && front !== row.delivery_id) {
      throw new Violation(
        `${row.delivery_id} started before the earlier ${front} had ended; both have the key ${row.order_key}`,
      )
    } else if (row.state === 'delivered' || row.state === 'failed' || row.state === 'cancelled')
      line.splice(line.indexOf(row.delivery_id), 1)
    if (line[0] !== undefined && line[0] !== front) this.#frontSince.set(line[0], now)
  }

  /** True when the delivery is not at the front of its line, or got there after `since`. */
  hindered({ delivery_id, lane, order_key }: Delivery, since: number): boolean {
    if (order_key === null) return false
    const isFront = this.#lines.get(`${lane} ${order_key}`)?.[0] === delivery_id
    return !isFront || (this.#frontSince.get(delivery_id) ?? -Infinity) > since
  }
}
