import type { Command } from 'commander'
import { canAsk } from '../ask.ts'
import { EXIT, Failure } from '../failure.ts'
import { checkFilters, FILTER_HELP, readFilters } from '../filter/filter.ts'
import { sourceOf } from '../follow/source.ts'
import { proxyFor } from '../http.ts'
import { complain, io, say, signals } from '../io.ts'
import { namingOf } from '../listen/heard.ts'
import { jsonView, lineView } from '../listen/lines.ts'
import { Listener, type Listening, type View } from '../listen/listener.ts'
import { PositionFile, type Place } from '../listen/position.ts'
import { ScreenView } from '../listen/screen.ts'
import { targetOf } from '../listen/target.ts'
import { collected, numberIn, timeOf, withExample, withProject, type ConnectionOptions } from '../options.ts'
import { style } from '../text/style.ts'
import { moment } from '../text/time.ts'
import { endpointId } from './rotate.ts'

type ListenOptions = ConnectionOptions & {
  readonly path?: string
  readonly endpoint?: readonly string[]
  readonly filter?: readonly string[]
  readonly since?: string
  readonly fromNow?: true
  readonly inFlight: number
  readonly count?: number
  readonly lines?: true
  readonly skipTlsVerify?: true
  readonly json?: true
}

const IN_FLIGHT = 8

export function addListen(program: Command): void {
  const listen = program
    .command('listen')
    .argument('<port-or-url>', 'where your program listens: 3000, or http://localhost:3000/webhooks')
    .summary('forward events to a program on this machine')
    .description(
      'Forwards each event of the project to a program on this machine: a POST with the body as ' +
        'received, byte for byte, and the query string and headers as received. Credentials are masked when an event is stored, so parameters and headers with one are left out.\n\n' +
        'The position is stored after each response. The next run with the same server, project and ' +
        'target continues there, so that no event is lost in between. After a connection loss, a sleep, or a server restart, nothing is sent twice. If this command is killed ' +
        'between a response and the moment when it is stored, the next run sends that event again. The header Postroad-Submission-Id identifies it.\n\n' +
        'Events wait while nothing listens at the target. If the connection breaks, an event is sent at most three times. Any response counts, including a 500.',
    )
    .option('--path <path>', 'the path to send to, such as /webhooks')
    .option('--endpoint <endpoint>', 'only events of this endpoint: slug or id; may be repeated', collected)
    .option('--filter <condition>', FILTER_HELP, collected)
    .option('--since <time>', 'start with the events since this time: RFC 3339, or 30m, 6h, 2d ago', timeOf)
    .option('--from-now', 'start with new events, not where the last run ended')
    .option('--skip-tls-verify', 'accept any certificate of the target, such as a self-signed one')
    .option('--in-flight <count>', 'maximum number of concurrent events', numberIn(1, 64), IN_FLIGHT)
    .option('--count <count>', 'stop after this many responses', numberIn(1, 1_000_000_000))
    .option('--lines', 'print one line for each event, at a terminal too')
    .option('--json', 'print one line of JSON for each event')
    .action(forwardEvents)
  withExample(
    withProject(listen),
    'listen 3000',
    'listen http://localhost:3000/webhooks --endpoint github',
    `listen 3000 --path /hooks --filter 'amount > 1000'`,
    'listen https://localhost:3443 --skip-tls-verify',
  )
}

async function forwardEvents(named: string, options: ListenOptions): Promise<void> {
  if (options.since !== undefined && options.fromNow === true)
    throw new Failure('Choose one of --since and --from-now.', EXIT.usage)
  const target = targetOf(named, options.path)
  const { since } = options
  const filter = await readFilters(options.filter)
  const source = await sourceOf(options, { detail: 'request', since })
  const { baseUrl, client } = source.connection
  if (target.origin === new URL(baseUrl).origin)
    throw new Failure(
      'This target is the server itself, so each event would return as a new one. Name your program.',
      EXIT.usage,
    )
  const endpoints = await Promise.all((options.endpoint ?? []).map((one) => endpointId(client, one)))
  const [naming] = await Promise.all([namingOf(client), checkFilters(client, filter)])
  const place: Place = { server: baseUrl, project: source.projectId, target: target.href }
  const position = new PositionFile(place)
  await position.lock()
  const isFresh = since !== undefined || options.fromNow === true
  const from = isFresh ? undefined : await position.read()
  const { view, begin } = viewOf(target, options)
  const listening: Listening = {
    source,
    target: { url: target, skipsTlsVerification: options.skipTlsVerify === true, proxy: proxyFor(target) },
    position,
    from,
    inFlightMax: options.inFlight,
    count: options.count ?? Infinity,
    endpoints: endpoints.length === 0 ? undefined : new Set(endpoints),
    meets: filter.meets,
    naming,
    view,
  }
  const listener = new Listener(listening)
  signals().on('SIGINT', listener.stop).on('SIGTERM', listener.stop)
  try {
    begin({ listener, greeting: greeting(place, startText(from !== undefined, since)) })
    await listener.run()
  } finally {
    view.close()
    signals().off('SIGINT', listener.stop).off('SIGTERM', listener.stop)
  }
}

type Begin = (of: { readonly listener: Listener; readonly greeting: string }) => void

/** The full screen at a terminal, and lines elsewhere. */
function viewOf(target: URL, { json, lines }: ListenOptions): { readonly view: View; readonly begin: Begin } {
  if (json === true) return { view: jsonView(), begin: ({ greeting: text }) => complain(text) }
  if (lines === true || !canAsk() || io().stdout.isTTY !== true)
    return { view: lineView(target), begin: ({ greeting: text }) => say(text) }
  const screen = new ScreenView(target, `Forwarding to ${target.href}`)
  return {
    view: screen,
    begin: ({ listener }) => screen.begin({ resend: (event) => listener.resend(event), stop: () => listener.stop() }),
  }
}

const greeting = ({ server, target }: Place, start: string): string =>
  `${style.strong('Forwarding')}  ${server}  →  ${target}\n${style.dim(start)}`

function startText(continues: boolean, since: string | undefined): string {
  if (since !== undefined) return `Starts with the events since ${moment(since)}.`
  return continues
    ? 'Continues where the last run ended. Add --from-now to skip to new events.'
    : 'Starts with new events. The next run continues where this one ends.'
}
