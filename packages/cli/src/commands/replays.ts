import { setTimeout as pause } from 'node:timers/promises'
import type { RouteAnswer, Routes } from '@postroad/contract'
import { wordOf } from '@postroad/contract/lights'
import { outcomeText } from '@postroad/contract/replay-outcome'
import type { Client } from '@postroad/sdk'
import type { Command } from 'commander'
import { agrees, canAsk } from '../ask.ts'
import { connect } from '../connection.ts'
import { destinationNames } from '../deliveries-table.ts'
import { EXIT, Failure } from '../failure.ts'
import { io } from '../io.ts'
import {
  invokedAs,
  numberIn,
  withCommon,
  withExample,
  withList,
  type CommonOptions,
  type ListOptions,
} from '../options.ts'
import { print } from '../output.ts'
import { planText, progressText } from '../replay-text.ts'
import { more } from '../text/more.ts'
import { style } from '../text/style.ts'
import { fields, table } from '../text/table.ts'
import { dayMoment } from '../text/time.ts'

type Started = Pick<RouteAnswer<Routes['replays']['create']>, 'plan' | 'replay'>
type Replay = RouteAnswer<Routes['replays']['get']>['replay']

/** The options that start a replay of many deliveries: `deliveries replay` and `destinations recover` share them. */
export type StartOptions = CommonOptions & {
  readonly rate?: number
  readonly dryRun?: true
  readonly yes?: true
  readonly detach?: true
}

export function withStart(command: Command): Command {
  return command
    .option('--rate <count>', 'deliveries per second, 1 to 1000 (without it, 50)', numberIn(1, 1_000))
    .option('--dry-run', 'print the plan and do nothing')
    .option('-y, --yes', 'do not ask')
    .option('--detach', 'do not wait until it ends')
}

type Start = {
  readonly client: Client
  readonly ask: (dryRun: boolean) => Promise<Started>
  readonly notes?: (started: Started) => readonly (readonly [string, string])[]
}

/** Shows the plan, asks, and shows the progress and the end. Every replay uses it. */
export async function startReplay({ client, ask, notes = () => [] }: Start, options: StartOptions): Promise<void> {
  const people = options.json !== true && options.quiet !== true
  if (options.dryRun === true || options.yes !== true) {
    const planned = await ask(true)
    const names = people ? await destinationNames(client) : new Map<string, string>()
    const text = (): string => planText(planned.plan, { names, notes: notes(planned) })
    if (options.dryRun === true) return print({ json: planned, ids: [], text }, options)
    await confirm(people ? text() : '')
  }
  const started = await ask(false)
  const ended =
    started.replay === null || options.detach === true
      ? started
      : { ...started, replay: await ending(client, started.replay) }
  print(
    { json: ended, ids: ended.replay === null ? [] : [ended.replay.id], text: () => endText(ended, options) },
    options,
  )
}

async function confirm(text: string): Promise<void> {
  if (!canAsk() || text === '')
    throw new Failure('This sends many deliveries again. Check the plan with --dry-run, then add --yes.', EXIT.usage)
  if (!(await agrees(text, 'Send them again?'))) throw new Failure('Nothing was sent.')
}

const POLL_MS = 1_000

/** Waits until the replay has ended or is paused. It continues on the server when this command is interrupted. */
async function ending(client: Client, begun: Replay): Promise<Replay> {
  const live = io().stderr.isTTY === true
  let replay = begun
  while (replay.state === 'running') {
    if (live) io().stderr.write(`\r\u001b[K${progressText(replay)}`)
    // oxlint-disable-next-line no-await-in-loop -- polls once a second
    await pause(POLL_MS)
    // oxlint-disable-next-line no-await-in-loop -- polls once a second
    ;({ replay } = await client.replays.get({ id: replay.id }))
  }
  if (live) io().stderr.write('\r\u001b[K')
  return replay
}

function endText({ replay, plan }: Started, { detach }: StartOptions): string {
  if (replay === null) return plan.count === 0 ? 'No deliveries match, so nothing was sent.' : 'Nothing was sent.'
  const after: [string, string] =
    detach === true || replay.state !== 'done'
      ? ['Next', `${invokedAs()} replays list`]
      : ['Next', `${invokedAs()} deliveries list`]
  return fields([
    ['Replay', `${replay.id}  ${style.dim(stateText(replay))}`],
    ['Sent again', progressText(replay)],
    ...(replay.replayed === 0 ? [] : [['Result', outcomeText(replay.outcome)] as [string, string]]),
    ...(replay.skipped === 0 ? [] : [['Skipped', String(replay.skipped)] as [string, string]]),
    after,
  ])
}

const stateText = ({ state, pause_reason }: Replay): string =>
  pause_reason === 'allowance_used'
    ? `${wordOf(state)}: the monthly delivery quota is used up; it resumes when the plan allows more`
    : wordOf(state)

const EXAMPLE_ID = 'rpl_01m7yttq4ye5ks3w8pq6gbnadt'

export function addReplays(program: Command): void {
  const replays = program
    .command('replays')
    .summary('list, pause and cancel replays of many deliveries')
    .description('Replays of many deliveries, started by "deliveries replay" or "destinations recover".')
  const list = replays
    .command('list')
    .summary('list replays with their progress')
    .description('Lists the replays, newest first.')
    .action(listReplays)
  withExample(withList(list), 'replays list')
  for (const [verb, what] of [
    ['pause', 'pause a replay; it makes no more deliveries due'],
    ['resume', 'resume a paused replay'],
    ['cancel', 'cancel a replay; the remaining deliveries do not change'],
  ] as const) {
    const command = replays
      .command(verb)
      .argument('<replay>', 'the id of the replay (rpl_…)')
      .summary(what)
      .description(`${what.charAt(0).toUpperCase()}${what.slice(1)}.`)
      .action(async (id: string, options: CommonOptions) => {
        const { client } = await connect(options)
        const answer = await client.replays[verb]({ id })
        print({ json: answer, ids: [answer.replay.id], text: () => endText({ ...answer, plan: NO_PLAN }, {}) }, options)
      })
    withExample(withCommon(command), `replays ${verb} ${EXAMPLE_ID}`)
  }
}

const NO_PLAN = { count: 0, complete: true, bytes: 0, minutes: 0, duplicates: 0, allowance: null, destinations: [] }

async function listReplays({ limit, cursor, ...options }: ListOptions): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.replays.list({ limit, cursor })
  const { replays, next_cursor } = answer
  const rows = (): string =>
    table([
      { head: 'State', cells: replays.map(({ state }) => state) },
      { head: 'Replay', cells: replays.map(({ id }) => id) },
      { head: 'Sent again', cells: replays.map(progressText), align: 'right' },
      { head: 'Result', cells: replays.map(({ outcome }) => outcomeText(outcome)), least: 12 },
      {
        head: 'Started (UTC)',
        cells: replays.map(({ created_at }) => dayMoment(created_at)),
        paint: style.dim,
        spare: true,
      },
    ])
  const text = (): string =>
    replays.length === 0
      ? `There are no replays here. Start one: ${invokedAs()} deliveries replay --destination …`
      : [rows(), ...more(next_cursor)].join('\n')
  print({ json: answer, ids: replays.map(({ id }) => id), text }, options)
}
