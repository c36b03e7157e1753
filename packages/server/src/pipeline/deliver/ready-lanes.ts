import { mayTakeSlot, type SlotRules } from '../../domain/delivery/slot-share.ts'
import { Fifo } from './fifo.ts'
import type { Lane } from './lane.ts'
import type { Workspace as WorkspaceOf, Workspaces } from './workspaces.ts'

type Workspace = WorkspaceOf<Lane>

/**
 * The lanes that may start an attempt, and the slots of the process. Workspaces take turns, and so do the lanes of each. Those that
 * have their share wait until any slot is freed, and are then asked again, so that none is forgotten.
 */
export class ReadyLanes {
  readonly #workspaces: Workspaces<Lane>
  readonly #rules: SlotRules
  #turns = new Fifo<Workspace>()
  #waiting: Workspace[] = []
  /** Lanes that have their share of a workspace that has not. */
  #waitingLanes: Lane[] = []
  #lanes = 0
  #lanesOfWaiting = 0
  #inUse = 0
  #freed = 0

  constructor(workspaces: Workspaces<Lane>, rules: SlotRules) {
    this.#workspaces = workspaces
    this.#rules = rules
  }

  /** How many lanes can start an attempt now, at most. */
  get size(): number {
    if (this.#inUse >= this.#rules.all) return 0
    return this.#lanes + Math.min(this.#freed, this.#lanesOfWaiting + this.#waitingLanes.length)
  }

  push(lane: Lane): void {
    const { workspace } = lane
    workspace.ready.push(lane)
    if (workspace.place === 'waiting') this.#lanesOfWaiting += 1
    else this.#lanes += 1
    if (workspace.place !== 'nowhere') return
    workspace.place = 'in_turn'
    this.#turns.push(workspace)
  }

  /** Removes and returns the next lane that may take a slot. */
  next(): Lane | undefined {
    // Workspaces that have nothing in use keep their places for the next free slot.
    if (this.#inUse >= this.#rules.all) return undefined
    if (this.#freed > 0) this.#askAgain()
    for (let workspace = this.#turns.shift(); workspace !== undefined; workspace = this.#turns.shift()) {
      const lane = this.#nextOf(workspace)
      if (lane !== undefined) return lane
    }
    return undefined
  }

  /**
   * True when a delivery that has not waited may take a slot of the lane. Nobody waits for a share then, and half of the slots
   * are free for the lanes whose turn comes.
   */
  hasRoom({ workspace, slots }: Lane): boolean {
    const nobodyWaits = this.#waiting.length + this.#waitingLanes.length === 0
    return nobodyWaits && 2 * this.#inUse < this.#rules.all && this.#mayTake(workspace, slots.beginning + slots.sending)
  }

  take(lane: Lane): void {
    this.#inUse += 1
    lane.workspace.inUse += 1
  }

  /** A slot of the lane is free again: its request has ended, or never started. */
  free({ workspace }: Lane): void {
    this.#inUse -= 1
    this.#freed += 1
    workspace.inUse -= 1
    this.#workspaces.forgetIdle(workspace)
  }

  #nextOf(workspace: Workspace): Lane | undefined {
    const { ready } = workspace
    if (!this.#mayTake(workspace, 0)) return this.#wait(workspace)
    for (let lane = ready.shift(); lane !== undefined; lane = ready.shift()) {
      this.#lanes -= 1
      if (!this.#mayTake(workspace, lane.slots.beginning + lane.slots.sending)) {
        this.#waitingLanes.push(lane)
        continue
      }
      workspace.place = ready.size > 0 ? 'in_turn' : 'nowhere'
      if (ready.size > 0) this.#turns.push(workspace)
      return lane
    }
    workspace.place = 'nowhere'
    return undefined
  }

  #mayTake({ inUse }: Workspace, ofLane: number): boolean {
    return mayTakeSlot({ all: this.#inUse, ofWorkspace: inUse, ofLane }, this.#rules)
  }

  #wait(workspace: Workspace): undefined {
    workspace.place = 'waiting'
    this.#waiting.push(workspace)
    this.#lanes -= workspace.ready.size
    this.#lanesOfWaiting += workspace.ready.size
  }

  /** Those that waited come before those whose turn comes now. */
  #askAgain(): void {
    const [workspaces, lanes] = [this.#waiting, this.#waitingLanes]
    this.#freed = 0
    this.#waiting = []
    this.#waitingLanes = []
    this.#lanes += this.#lanesOfWaiting
    this.#lanesOfWaiting = 0
    for (const workspace of workspaces) workspace.place = 'in_turn'
    this.#turns.putBack(workspaces)
    for (const lane of lanes) this.push(lane)
  }
}
