import { Fifo } from './fifo.ts'

/** The part of a workspace in the lanes and slots of this process. */
export interface Workspace<Lane> {
  readonly key: string
  /** How many lanes of the workspace this process has. */
  lanes: number
  /** How many slots the workspace has in use. Written, like the rest, by `ReadyLanes`. */
  inUse: number
  readonly ready: Fifo<Lane>
  /** `waiting`: it had its share when its turn came. */
  place: 'nowhere' | 'in_turn' | 'waiting'
}

/** The workspaces that have lanes or slots here. */
export class Workspaces<Lane> {
  readonly #byKey = new Map<string, Workspace<Lane>>()

  /** For a lane that was just granted. */
  joined(key: string): Workspace<Lane> {
    const workspace = this.#byKey.get(key) ?? { key, lanes: 0, inUse: 0, ready: new Fifo(), place: 'nowhere' }
    this.#byKey.set(key, workspace)
    workspace.lanes += 1
    return workspace
  }

  left(workspace: Workspace<Lane>): void {
    workspace.lanes -= 1
    this.forgetIdle(workspace)
  }

  /** Requests of a lane that is gone still have slots. */
  forgetIdle({ key, lanes, inUse }: Workspace<Lane>): void {
    if (lanes + inUse === 0) this.#byKey.delete(key)
  }
}
