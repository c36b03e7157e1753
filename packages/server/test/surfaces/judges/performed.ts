import { ROLES, type Role } from '@postroad/contract'
import {
  aKey,
  auditRowsAfter,
  call,
  home,
  lastAuditRow,
  ownerOf,
  pathOf,
  whoCalls,
  type Asked,
  type AuditRow,
  type Credential,
  type Heard,
  type Named,
} from '../../stage/admin-asking.ts'
import { example } from '../../stage/route-examples.ts'

/** A request that the contract allows, its answer, and the audit rows that it added. Several judges look at each one. */
export type Performed = {
  readonly asked: Asked
  readonly sender: Sender
  /** The project in the path; undefined: the route under the root. */
  readonly project: string | undefined
  readonly answer: Heard
  readonly added: readonly AuditRow[]
  /** The same request once more with the same Idempotency-Key. */
  readonly repeated?: { readonly answer: Heard; readonly added: readonly AuditRow[] }
}

export type Sender = {
  readonly who: string
  readonly by: Credential
  readonly userId: string
  /** As an audit row names it. */
  readonly agent: string | null
}

const done = new Map<string, Promise<readonly Performed[]>>()

/**
 * Each route as each role whose key may call it, and under its project and the root. A read is sent in all of these ways;
 * a change is sent once for each role and each path, and a POST also with an Idempotency-Key.
 */
export function performed(named: Named): Promise<readonly Performed[]> {
  const sent = done.get(named.name) ?? perform(named)
  done.set(named.name, sent)
  return sent
}

async function perform(named: Named): Promise<readonly Performed[]> {
  const senders = await sendersOf(named)
  const projects = named.route.area === 'project' ? [home.project, undefined] : [undefined]
  const all: Performed[] = []
  if (named.route.method === 'GET') {
    const asked = await example(named, home)
    for (const sender of senders)
      for (const project of projects) all.push(await sendOne(named, { asked, sender, project }))
    return all
  }
  const count = Math.max(senders.length, projects.length, named.route.method === 'POST' ? 2 : 1)
  for (let at = 0; at < count; at += 1) {
    const [sender, project] = [senders[at % senders.length], projects[at % projects.length]]
    if (sender === undefined) throw new Error(`Nobody may call ${named.name}.`)
    const isKeyed = at > 0 && named.route.method === 'POST' && named.route.refusesIdempotencyKey !== true
    const key = isKeyed ? `${named.name} ${at}`.replace(' ', '-') : undefined
    all.push(await sendOne(named, { asked: await example(named, home), sender, project, key }))
  }
  return all
}

type Sending = Pick<Performed, 'asked' | 'sender' | 'project'> & { readonly key?: string | undefined }

async function sendOne(named: Named, { asked, sender, project, key }: Sending): Promise<Performed> {
  const send = async () => {
    const had = await lastAuditRow()
    const answer = await call(asked.by ?? sender.by, `${named.route.method} ${pathOf(named, asked, project)}`, {
      ...(asked.query === undefined ? {} : { query: asked.query }),
      ...(asked.body === undefined ? {} : { body: asked.body }),
      ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
    })
    return { answer, added: await auditRowsAfter(had) }
  }
  const first = { asked, sender, project, ...(await send()) }
  return key === undefined ? first : { ...first, repeated: await send() }
}

const keys = new Map<Role, Promise<Sender>>()

async function sendersOf(named: Named): Promise<readonly Sender[]> {
  const { callers, role } = named.route
  if (callers === 'people' || role === 'owner') return [await thePerson(named)]
  const able = (['viewer', 'developer', 'admin'] as const).filter((one) => ROLES.indexOf(one) >= ROLES.indexOf(role))
  return Promise.all(able.map(keyOf))
}

/** The owner, who is also the operator. */
async function thePerson(named: Named): Promise<Sender> {
  const me = (await call(await ownerOf(home), 'GET me')).body
  const { operator } = named.route
  return {
    who: 'the owner',
    by: await whoCalls(named, home),
    userId: me.user.id,
    agent: operator === true ? 'operator' : null,
  }
}

function keyOf(role: Exclude<Role, 'owner'>): Promise<Sender> {
  const made = keys.get(role) ?? makeKey(role)
  keys.set(role, made)
  return made
}

async function makeKey(role: Exclude<Role, 'owner'>): Promise<Sender> {
  const by = { key: await aKey(home, { role }) }
  const me = (await call(by, 'GET me')).body
  return { who: `a ${role} key`, by, userId: me.user.id, agent: `api_key:${me.api_key.id}` }
}
