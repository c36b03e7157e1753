import type { RouteAnswer, RouteRequest, Routes } from '@postroad/contract'
import { destinationLight } from '@postroad/contract/lights'
import type { Client } from '@postroad/sdk'
import type { Command } from 'commander'
import { connect } from '../connection.ts'
import { destinationNames } from '../deliveries-table.ts'
import { EXIT, Failure } from '../failure.ts'
import { invokedAs, timeOf, withCommon, withExample, type CommonOptions } from '../options.ts'
import { print } from '../output.ts'
import { plain } from '../text/plain.ts'
import { heldText, nextProbeText } from '../text/held.ts'
import { lightStyle, lightText } from '../text/state.ts'
import { style } from '../text/style.ts'
import { fields } from '../text/table.ts'
import { duration, moment } from '../text/time.ts'
import { startReplay, withStart, type StartOptions } from './replays.ts'

type Health = RouteAnswer<Routes['destinations']['health']>['health']
type Attempt = RouteAnswer<Routes['destinations']['test']>['attempt']

/** The commands for a failing destination: health, test, probe and recover. */
export function addRecover(destinations: Command): void {
  const health = destinations
    .command('health')
    .argument('<destination>', 'id or name of the destination')
    .summary('show recent outcomes and waiting deliveries')
    .description('Shows the outcomes and durations of recent attempts, and the waiting deliveries.')
    .option('--hours <count>', 'number of hours to look back, 1 to 168', '24')
    .action(showHealth)
  withExample(withCommon(health), 'destinations health billing')

  const test = destinations
    .command('test')
    .argument('<destination>', 'id or name of the destination')
    .summary('send a test and show the response')
    .description(
      'Sends a signed sample, or an event, to a destination now and shows the response.\nNothing is stored. A test that succeeds closes an open breaker. The exit code is 1\nwhen it fails.',
    )
    .option('--event <event>', 'send this event instead of a sample (rec_…)')
    .action(testDestination)
  withExample(withCommon(test), 'destinations test billing')

  const probe = destinations
    .command('probe')
    .argument('<destination>', 'id or name of the destination')
    .summary('send the next probe of an open breaker now')
    .description(
      'While the breaker of a destination is open, Postroad sends one waiting delivery\nfrom time to time as a probe. This command sends the next probe at once. If it\nsucceeds, the other deliveries follow.',
    )
    .action(probeDestination)
  withExample(withCommon(probe), 'destinations probe billing')

  const recover = destinations
    .command('recover')
    .argument('<destination>', 'id or name of the destination')
    .summary('replay the deliveries that failed since a time')
    .description(
      'Replays the deliveries that failed permanently since a time. Prints the plan first and asks for confirmation.',
    )
    .requiredOption('--since <time>', 'start of the time range: RFC 3339, or 30m, 6h, 2d ago', timeOf)
    .option('--enable', 'turn the destination on if it is off')
    .option('--cancelled', 'also replay canceled deliveries')
    .action(recoverDestination)
  withExample(withStart(withCommon(recover)), 'destinations recover billing --since 6h --enable --dry-run')
}

/** Returns an id as it is, and looks up a name. */
export async function destinationId(client: Client, named: string): Promise<string> {
  if (named.startsWith('dst_')) return named
  for (const [id, name] of await destinationNames(client)) if (name === named) return id
  throw new Failure(`There is no destination "${named}" here. See ${invokedAs()} destinations list.`, EXIT.notFound)
}

async function showHealth(
  named: string,
  { hours, ...options }: CommonOptions & { readonly hours: string },
): Promise<void> {
  const { client } = await connect(options)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server checks the number and names the mistake
  const request = { id: await destinationId(client, named), hours } as RouteRequest<Routes['destinations']['health']>
  const answer = await client.destinations.health(request)
  print({ json: answer, ids: [answer.health.destination_id], text: () => healthText(answer.health) }, options)
}

function healthText({
  destination_id,
  enabled,
  disabled_reason,
  breaker,
  held_by,
  attempts,
  success_ratio,
  response_ms,
  delivery_ms,
  backlog,
  next_attempt_at,
}: Health): string {
  const took = (ms: Health['response_ms']): string =>
    ms === null ? 'nothing to report yet' : `half within ${duration(ms.p50)}, 95 % within ${duration(ms.p95)}`
  const waiting = backlog.pending + backlog.retrying
  const light = destinationLight({ enabled, disabled_reason, breaker })
  const probe = held_by === null ? undefined : nextProbeText(held_by)
  return fields([
    ['Destination', `${destination_id}  ${lightStyle(light)(lightText(light))}`],
    [
      'Succeeded',
      success_ratio === null
        ? 'no attempt has ended'
        : `${(success_ratio * 100).toFixed(1)} %  ${style.dim(`${attempts.succeeded} of ${attempts.succeeded + attempts.failed} attempts`)}`,
    ],
    ['Gave up', String(attempts.gave_up)],
    ['Answers', took(response_ms)],
    ['Delivered', took(delivery_ms)],
    [
      'Waiting',
      `${waiting}${backlog.oldest_accepted_at === null ? '' : style.dim(`  the oldest since ${moment(backlog.oldest_accepted_at)}`)}`,
    ],
    ['Paused', String(backlog.paused)],
    ...(held_by === null ? [] : [['Held back', `${backlog.held}  ${heldText(held_by)}`] as const]),
    ...(probe === undefined ? [] : [['Next probe', probe] as const]),
    ...(held_by !== null || next_attempt_at === null
      ? []
      : [['Next attempt', Date.parse(next_attempt_at) > Date.now() ? moment(next_attempt_at) : 'now'] as const]),
  ])
}

async function probeDestination(named: string, options: CommonOptions): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.destinations.probe({ id: await destinationId(client, named) })
  const { id } = answer.destination
  const text = (): string =>
    fields([
      ['Probe', `${id}  ${style.dim('sent now; the rest follow if it succeeds')}`],
      ['Next', `${invokedAs()} destinations health ${id}`],
    ])
  print({ json: answer, ids: [id], text }, options)
}

async function testDestination(
  named: string,
  { event, ...options }: CommonOptions & { readonly event?: string },
): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.destinations.test({ id: await destinationId(client, named), record_id: event })
  const { attempt } = answer
  print({ json: answer, ids: [attempt.id], text: () => testText(answer) }, options)
  if (attempt.outcome === 'failed') throw new Failure(`The destination did not accept the test: ${causeOf(attempt)}.`)
}

const causeOf = ({ response_status: status, error_code: code }: Attempt): string =>
  status === null ? (code ?? 'failed').replaceAll('_', ' ') : `it answered ${status}`

function testText({ attempt, closed_breaker }: RouteAnswer<Routes['destinations']['test']>): string {
  const { outcome, response_status, error_detail, duration_ms, response_body } = attempt
  const without = outcome === 'succeeded' ? 'accepted' : causeOf(attempt)
  const answer = response_status === null ? without : String(response_status)
  return fields([
    ['Answer', outcome === 'succeeded' ? style.good(answer) : style.bad(answer)],
    ...(duration_ms === null ? [] : [['Took', duration(duration_ms)] as const]),
    ...(error_detail === null ? [] : [['Cause', plain(error_detail)] as const]),
    ...(response_body === null || response_body.trim() === ''
      ? []
      : [['Response', plain(response_body.trim().slice(0, 60))] as const]),
    ...(closed_breaker ? [['Breaker', 'closed by this test; waiting deliveries are sent now'] as const] : []),
  ])
}

type RecoverOptions = StartOptions & { readonly since: string; readonly enable?: true; readonly cancelled?: true }

async function recoverDestination(
  named: string,
  { since, enable, cancelled, ...options }: RecoverOptions,
): Promise<void> {
  const { client } = await connect(options)
  const id = await destinationId(client, named)
  let waiting = 0
  let enabled = true
  const ask = async (dry_run: boolean) => {
    const answer = await client.destinations.recover({
      id,
      since,
      enable: enable === true,
      include_cancelled: cancelled === true,
      rate_per_second: options.rate,
      dry_run,
    })
    waiting = answer.plan.waiting
    enabled = answer.destination.enabled
    return answer
  }
  const notes = (): readonly (readonly [string, string])[] => [
    ['Waiting', `${waiting}  ${style.dim('Postroad sends them when the destination is on')}`],
    ...(enabled || enable === true ? [] : [['Note', 'the destination is off; add --enable to turn it on'] as const]),
  ]
  await startReplay({ client, ask, notes }, options)
}
