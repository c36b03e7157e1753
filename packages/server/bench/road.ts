import type { Child } from './child.ts'
import type { LoadVerbs } from './load.ts'
import { SECRET } from './payload.ts'
import { adminOf, makeDestination, makeEndpoint, type Postroad } from './postroad.ts'
import type { SinkVerbs } from './sink.ts'
import type { Stage } from './stage.ts'

/** A server with one signed endpoint, whose events go to one destination, with a sender and a receiver of events. */
export type Road = {
  readonly folder: string
  readonly server: Postroad
  readonly load: Child<LoadVerbs>
  readonly sink: Child<SinkVerbs>
  /** The port of the receiver. */
  readonly port: number
  /** The path of the endpoint. */
  readonly path: string
}

export async function aRoad(stage: Stage): Promise<Road> {
  const folder = await stage.folder()
  const server = await stage.server({ folder })
  const load = stage.child<LoadVerbs>('load.ts')
  const sink = stage.child<SinkVerbs>('sink.ts')
  const port = await sink.ask('listen', null)
  const admin = await adminOf(server, folder)
  const path = await makeEndpoint(admin, 'bench', SECRET)
  await makeDestination(admin, { name: 'bench', port, maxInFlight: 100 })
  return { folder, server, load, sink, port, path }
}
