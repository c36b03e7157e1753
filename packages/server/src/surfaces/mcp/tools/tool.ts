import type { OperationId } from '@postroad/contract/openapi'

/** A tool is a contract route with a name and a description for models. */
export type Tool = {
  /** The resource first, so that the tools of a resource are together. */
  readonly name: string
  readonly route: OperationId
  readonly title: string
  /** When to use it, and which tool comes next. */
  readonly description: string
  /** The members of the route that the tool has; absent: all. A member that models rarely need is left to the API. */
  readonly takes?: readonly string[]
  /** Descriptions that are shorter or clearer for a model than those of the contract. */
  readonly says?: Readonly<Record<string, string>>
  /** Large members that few calls need: their parts are left out, and `says` has an example. */
  readonly brief?: readonly string[]
  /** The call removes something, or stops something that works. */
  readonly destructive?: true
  /** A repeat changes nothing more, although the method does not promise that. */
  readonly repeatable?: true
  /** The call sends something to another system. */
  readonly reaches?: true
  /** The members of an item of a list; absent: all. */
  readonly shows?: readonly string[]
}

/** The room and the verb of the route of a tool. */
export function verbOf({ route }: Tool): { readonly room: string; readonly verb: string } {
  const [room = '', verb = ''] = route.split('.')
  return { room, verb }
}

/** The common part of descriptions of conditions. */
export const CONDITIONS = 'All must match; an empty list matches everything.'

/** The common part of descriptions of conditions in a search. */
export const SEARCHED =
  'as "<path>:<op>:<value>", such as "amount:gt:100", "type:equals:order.created" or "error:exists". The path starts inside the payload (amount, not data.amount). op as in rule_create. All must match.'

/** The states of deliveries that a search takes, with those that a model would misread. */
export const DELIVERY_STATES =
  '`pending`, `sending`, `delivered`, `retrying` (waits for the next attempt), `failed` (gave up), `paused`, `cancelled`, `stuck` (waits because its destination fails or is off); separated by commas.'
