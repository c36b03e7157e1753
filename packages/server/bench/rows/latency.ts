import { SECRET } from '../payload.ts'
import { aRoad } from '../road.ts'
import { quantile } from '../statistics.ts'
import type { OpenRun } from '../load.ts'
import type { Stage } from '../stage.ts'
import type { Figure } from '../table.ts'

const PER_SECOND = 200
const WARM_MS = 2_000
const AIM_MS = 20
const PATIENCE_MS = 30_000

/** From the POST of an event to its arrival at the sink, at a steady rate, beside a POST directly to the sink. */
export async function latency(stage: Stage): Promise<readonly Figure[]> {
  const { server, load, sink, port, path } = await aRoad(stage)

  let from = 1_000_000
  const run = async (
    target: Pick<OpenRun, 'port' | 'path' | 'secret'>,
    ms: number,
  ): Promise<{ sent: number[]; accepted: number[] }> => {
    const { sentAt, answeredAt, refused } = await load.ask('open', { ...target, perSecond: PER_SECOND, ms, from })
    const receivedAt = await sink.ask('receivedAt', { from, count: sentAt.length, patienceMs: PATIENCE_MS })
    from += sentAt.length
    if (refused > 0) throw new Error(`${refused} events were refused.`)
    return {
      sent: receivedAt.map((at, index) => at - (sentAt[index] ?? NaN)),
      accepted: receivedAt.map((at, index) => Math.max(0, at - (answeredAt[index] ?? NaN))),
    }
  }
  const [ours, straight] = [
    { port: server.port, path, secret: SECRET },
    { port, path: '/', secret: undefined },
  ]
  await run(ours, WARM_MS)
  const through = await run(ours, stage.seconds * 2_000)
  const direct = await run(straight, stage.seconds * 1_000)
  await Promise.all([load.stop(), sink.stop()])
  await server.stop()

  const beside = (share: number) => ({ name: 'straight to the sink', value: quantile(direct.sent, share) })
  return [
    {
      what: `Sent → received at ${PER_SECOND}/s, p50`,
      unit: 'ms',
      ours: quantile(through.sent, 0.5),
      beside: beside(0.5),
      aim: { most: AIM_MS },
    },
    {
      what: `Sent → received at ${PER_SECOND}/s, p99`,
      unit: 'ms',
      ours: quantile(through.sent, 0.99),
      beside: beside(0.99),
    },
    {
      what: 'Accepted (201) → received, p50',
      unit: 'ms',
      ours: quantile(through.accepted, 0.5),
      beside: undefined,
      aim: { most: AIM_MS },
    },
    { what: 'Accepted (201) → received, p99', unit: 'ms', ours: quantile(through.accepted, 0.99), beside: undefined },
  ]
}
