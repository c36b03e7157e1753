import { after, before } from 'node:test'
import { encodeId } from '@postroad/contract'
import { sql, type Database } from '../../../server/src/platform/db.ts'
import { behind, signedIn } from '../../../server/test/stage/fixtures.ts'
import { ask, theWorkspace, type Headers, type Member } from '../../../server/test/stage/people.ts'
import { aStage, noBrowser, type Stage } from './browser.ts'

export const OPERATOR = 'operator@example.com'

export type Settings = {
  readonly stage: Stage
  readonly database: Database
  readonly home: Member
  readonly workspaceId: string
  /** The session of the owner, who is an operator too. */
  readonly headers: Headers
}

/** Gives the owner a name and the address of an operator. */
export async function anOperator(database: Database): Promise<Member> {
  const home = await theWorkspace(database)
  await database.run(sql`update users set name = 'Olga Owner', email = ${OPERATOR} where id = ${home.userId}`)
  return home
}

/** A stage for all tests of a file, whose owner has an address and is an operator of the installation. `end` is called last. */
export function onSettings(
  prepare: (made: Settings) => void | Promise<void>,
  end: () => Promise<void> | undefined = () => undefined,
): void {
  const made: { stage?: Stage; database?: Database } = {}
  before(async () => {
    if (noBrowser !== false) return
    const stage = await aStage({ env: { OPERATORS: OPERATOR } })
    const database = behind(stage.world)
    Object.assign(made, { stage, database })
    const home = await anOperator(database)
    await prepare({
      stage,
      database,
      home,
      workspaceId: encodeId('workspace', home.workspaceId),
      headers: await signedIn(stage.world, home),
    })
  })
  after(async () => {
    await made.database?.close()
    await made.stage?.stop()
    await end()
  })
}

/** Suspends the workspace or ends its suspension, as the operator does. */
export async function suspend({ stage, headers, workspaceId }: Settings, reason?: string): Promise<void> {
  const line = `POST platform/workspaces/${workspaceId}/${reason === undefined ? 'reinstate' : 'suspend'}`
  const answer = await ask(stage.world, line, { headers, ...(reason === undefined ? {} : { body: { reason } }) })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
}
