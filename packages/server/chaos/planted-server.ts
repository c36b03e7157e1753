import cluster from 'node:cluster'
import { boot, startFailure, type Booted } from '../src/boot.ts'
import { serve } from '../src/commands/serve.ts'
import { createResolver } from '../src/platform/resolver.ts'
import { isPlant, PLANTS, type Plant } from './plants.ts'
import { NOT_PLANTED, PLANTED } from './planted.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * `serve` with the planted defect of CHAOS_PLANT, or with the name server of CHAOS_NAME_SERVER: the real parts, with one of
 * them composed differently.
 */
async function bootPlanted(environment: Environment, how: Parameters<Parameters<typeof serve>[0]>[0]): Promise<Booted> {
  const name = environment['CHAOS_PLANT']
  const { strike, everyMs, inProcess, ...parts } = plantOf(name)
  const composition = composed(parts, environment['CHAOS_NAME_SERVER'])
  const booted = await boot(environment, { ...how, ...composition })
  const { deps } = booted.app
  const isMinder = booted.config.PROCESSES > 1 && cluster.isPrimary
  if (!isMinder) inProcess?.()
  if (name === undefined || cluster.isWorker) return booted
  try {
    await strike?.(deps)
    booted.log.info(PLANTED, { plant: name })
    // Later strikes can meet a PostgreSQL that the storm has hit.
    if (everyMs !== undefined) setInterval(() => void strike?.(deps).catch(() => undefined), everyMs).unref()
  } catch (cause) {
    booted.log.error(NOT_PLANTED, { plant: name, why: String(cause) })
  }
  return booted
}

function plantOf(name: string | undefined): Plant {
  if (name !== undefined && !isPlant(name))
    throw new Error(`CHAOS_PLANT must be one of ${Object.keys(PLANTS).join(', ')}, but it is ${JSON.stringify(name)}.`)
  return name === undefined ? {} : PLANTS[name]
}

function composed(parts: Plant, nameServer: string | undefined): Plant {
  return nameServer === undefined ? parts : { ...parts, resolver: createResolver({ servers: [nameServer] }) }
}

try {
  process.exitCode = await serve((how) => bootPlanted(process.env, how), process.env)
} catch (error) {
  console.error(startFailure(error))
  process.exitCode = 1
}
