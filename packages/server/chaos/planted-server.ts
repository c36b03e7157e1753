import { boot, startFailure } from '../src/boot.ts'
import { bootstrap } from '../src/resources/installation/index.ts'
import { isPlant, PLANTS } from './plants.ts'

/** `serve` with a defect planted by CHAOS_PLANT: the real parts, one of them composed in another way. */
async function serve(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  const plant = environment['CHAOS_PLANT'] ?? ''
  if (!isPlant(plant)) throw new Error(`CHAOS_PLANT must be one of ${Object.keys(PLANTS).join(', ')}, but it is ${JSON.stringify(plant)}.`)
  const ended = Promise.withResolvers<void>()
  process.on('SIGINT', () => ended.resolve())
  process.on('SIGTERM', () => ended.resolve())
  const { app, storage } = await boot(environment, { mode: 'own', ...PLANTS[plant] })
  try {
    await bootstrap(app.deps)
    await app.start()
    await ended.promise
  } finally {
    await app.stop()
    await storage.stop()
  }
}

try {
  await serve(process.env)
} catch (error) {
  console.error(startFailure(error))
  process.exitCode = 1
}
