import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'

/**
 * Every route file of the contract has a room of the same name, in the same group, in the server, because there is one
 * word per thing, and the folder is the URL word. Rooms use each other in one direction, even where no file closes the
 * cycle. Every migration has a separate number, so that names never decide the order.
 */
const ROOMS = 'packages/server/src/resources/'

const routeFiles = globSync('packages/contract/src/routes/*/*.ts')
  .map((file) => file.replace('packages/contract/src/routes/', '').replace(/\.ts$/, ''))
  .filter((name) => !/\/index$|\.about$/.test(name))
const missing = routeFiles.filter((name) => !existsSync(`${ROOMS}${name}/index.ts`))

for (const name of missing)
  console.error(`The contract has routes/${name}.ts, but the server has no room resources/${name}/.`)
if (routeFiles.length === 0) console.error('No route file was found. Correct the path in scripts/check-rooms.ts.')

/** The room of a file, `delivery/lanes`; undefined for a file outside all rooms. */
function roomOf(file: string): string | undefined {
  const [group, room, ...rest] = file.slice(ROOMS.length).split('/')
  return file.startsWith(ROOMS) && rest.length > 0 ? `${group}/${room}` : undefined
}

function usedBy(file: string): readonly string[] {
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export|\}) .*?from '(\.[^']+)'/gm)
  return [...imports].map(([, path = '']) => normalize(join(dirname(file), path)))
}

const uses = new Map<string, Set<string>>()
for (const file of globSync(`${ROOMS}*/*/**/*.ts`).filter((name) => !name.endsWith('.test.ts'))) {
  const room = roomOf(file) ?? ''
  const used = uses.get(room) ?? new Set<string>()
  uses.set(room, used)
  for (const other of usedBy(file).map(roomOf)) if (other !== undefined && other !== room) used.add(other)
}

/** The first cycle that leads through a room on the path, or undefined. */
function circleFrom(room: string, path: readonly string[], done: Set<string>): readonly string[] | undefined {
  if (path.includes(room)) return [...path.slice(path.indexOf(room)), room]
  if (done.has(room)) return undefined
  for (const next of uses.get(room) ?? []) {
    const circle = circleFrom(next, [...path, room], done)
    if (circle !== undefined) return circle
  }
  done.add(room)
  return undefined
}

const done = new Set<string>()
const circles = [...uses.keys()].map((room) => circleFrom(room, [], done)).filter((circle) => circle !== undefined)
for (const circle of circles.slice(0, 1)) console.error(`Rooms use each other in a cycle: ${circle.join(' → ')}.`)

const numbers = globSync('packages/server/migrations/*.sql').map((file) => basename(file).slice(0, 4))
const twice = numbers.filter((number, index) => numbers.indexOf(number) !== index)
for (const number of twice)
  console.error(`Two migrations have the number ${number}; give the newer one the next free number.`)

process.exitCode = missing.length + twice.length + circles.length === 0 && routeFiles.length > 0 ? 0 : 1
