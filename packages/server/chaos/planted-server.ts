import { boot, startFailure } from '../src/boot.ts'
import { createOutboundHttp } from '../src/platform/outbound-http.ts'
import { createResolver } from '../src/platform/resolver.ts'
import { bootstrap } from '../src/resources/installation/index.ts'
import { isPlant, PLANTS, type Plant } from './plants.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** `serve` with a defect planted by CHAOS_PLANT, or with the name server of CHAOS_NAME_SERVER: the real parts, one of them composed in another way. */
async function serve(environment: Environment): Promise<void> {
  const ended = Promise.withResolvers<void>()
  process.on('SIGINT', () => ended.resolve())
  process.on('SIGTERM', () => ended.resolve())
  const { app, storage } = await boot(environment, { mode: 'own', ...compositionOf(environment) })
  try {
    await bootstrap(app.deps)
    await app.start()
    await ended.promise
  } finally {
    await app.stop()
    await storage.stop()
  }
}

function compositionOf({ CHAOS_PLANT: name, CHAOS_NAME_SERVER: nameServer }: Environment): Plant {
  if (name !== undefined && !isPlant(name)) throw new Error(`CHAOS_PLANT must be one of ${Object.keys(PLANTS).join(', ')}, but it is ${JSON.stringify(name)}.`)
  const plant: Plant = name === undefined ? {} : PLANTS[name]
  if (nameServer === undefined || plant.outbound !== undefined) return plant
  return { ...plant, outbound: (options) => createOutboundHttp({ ...options, resolver: createResolver({ servers: [nameServer] }) }) }
}

try {
  await serve(process.env)
} catch (error) {
  console.error(startFailure(error))
  process.exitCode = 1
}
