import type { Deps } from '../../context.ts'
import { WorkBudget, WorkUsedUp } from '../../domain/work-budget.ts'
import { sentBy } from '../sent-by.ts'
import { turnOf } from '../turn.ts'
import type { Decided, Receiver, Rejected, Routed, Verified } from '../types.ts'
import { decide, type Routable } from './decide.ts'
import { routeEvent, type RouteEvent } from './route-event.ts'

/** About two milliseconds. */
const LOOP_WORK = 1_048_576

/**
 * Decides about an event here, unless its body is large or that needs much work: many rules that search it. Then a thread
 * decides.
 */
export function route(deps: Deps, verified: Verified): Routed | Rejected | Promise<Routed | Rejected> {
  const { plan } = verified.receiver
  const { source } = plan
  const event = routableOf(verified)
  if (verified.isOutline || event.text.length >= source.heavyFrom) return routeHeavy(deps, { verified, event })
  try {
    return routedBy(verified, decide({ uuid: deps.uuid, routing: plan, budget: new WorkBudget(LOOP_WORK) }, event))
  } catch (error) {
    if (!(error instanceof WorkUsedUp)) throw error
    source.heavyFrom = event.text.length
    return routeHeavy(deps, { verified, event })
  }
}

async function routeHeavy(
  { heavy, uuid }: Deps,
  { verified, event }: { readonly verified: Verified; readonly event: Routable },
): Promise<Routed | Rejected> {
  const { source } = verified.receiver.plan
  const { payload: _payload, ...rest } = event
  // The first id is made when a thread begins, because an event is committed soon after its id is made.
  const input = (): RouteEvent => ({ shared: source.shared, event: rest, firstId: uuid() })
  return routedBy(verified, await heavy.run(routeEvent, { ...turnOf(verified), input, work: Infinity }))
}

function routedBy(verified: Verified, decided: Decided | Rejected): Routed | Rejected {
  if ('kind' in decided) return decided
  const { use, dataset, webhook } = verified.receiver
  return { ...decided, verified, dataset: use === 'rules' ? null : (dataset ?? webhook?.dataset ?? null) }
}

function routableOf({ receiver, captured, payload, text, isBody, hops }: Verified): Routable {
  const { use, webhook, ingestKeyId, dataset } = receiver
  return {
    payload,
    text,
    isBody,
    headers: captured.headers,
    sent: sentBy({ captured, receiver }),
    hops,
    use,
    webhookId: webhook?.id,
    ingestKeyId,
    dataset,
    scheme: verifiedScheme(receiver),
    customer: captured.customer ?? null,
  }
}

/**
 * The scheme of the signature that the ladder verified: the endpoint's, otherwise the key's. Absent where no signature
 * is required.
 */
function verifiedScheme({ webhook, ingestKey }: Receiver): Routable['scheme'] {
  const scheme = webhook?.settings.scheme ?? 'none'
  if (scheme !== 'none') return scheme
  return ingestKey?.secrets === undefined ? undefined : 'service_signature'
}
