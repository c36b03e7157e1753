import assert from 'node:assert/strict'
import type { Answer, World } from './harness.ts'

const MINUTE_MS = 60_000

export type ShownAlert = {
  readonly id: string
  readonly type: string
  readonly subject: { readonly id: string; readonly name: string }
  readonly severity: string
  readonly state: string
  readonly held: boolean
  readonly value: number
}

/** The alerts of a project, and what its loop does. The test runs the loop itself. */
export class AlertStage {
  readonly #world: World
  readonly #project: string

  /** `project` empty: the Default project. */
  constructor(world: World, project = '') {
    this.#world = world
    this.#project = project
  }

  /** A look of the loop, a minute after the last one, because it looks at some types only once a minute. */
  async look(afterMs = MINUTE_MS): Promise<void> {
    this.#world.clock.advance(afterMs)
    await this.#world.idle()
    await this.#world.run('alerts.watch')
    await this.#world.idle()
  }

  async ask(method: string, path: string, body?: object): Promise<Answer['body']> {
    const at = this.#project === '' ? path : `projects/${this.#project}/${path}`
    const answer = await this.#world.admin(method, at, body)
    assert.ok(answer.status < 300, `${method} ${at} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  async alerts(asked: Readonly<Record<string, string>> = {}): Promise<readonly ShownAlert[]> {
    return (await this.ask('GET', `alerts?${new URLSearchParams(asked).toString()}`)).alerts
  }

  open = (subject?: string): Promise<readonly ShownAlert[]> =>
    this.alerts({ state: 'open', ...(subject === undefined ? {} : { subject }) })

  /** The payloads of the events of Postroad, oldest first; of one subject, or of all. */
  async events(subject?: string): Promise<readonly Answer['body'][]> {
    const found: Answer['body'][] = []
    for (const { id } of (await this.ask('GET', 'records?dataset=postroad&limit=200')).records) {
      const { record } = await this.ask('GET', `records/${id}`)
      if (subject === undefined || record.data.subject.id === subject) found.unshift(record.data)
    }
    return found
  }

  /** The same as `type change`. */
  changes = async (subject?: string): Promise<readonly string[]> =>
    (await this.events(subject)).map(({ type, alert }) => `${type} ${alert.change}`)
}
