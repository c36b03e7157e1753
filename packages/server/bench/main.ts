import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { readConditions, type Conditions } from './conditions.ts'
import { partOf, ROWS, type Part } from './parts.ts'
import { openStage } from './stage.ts'
import { tableOf, type Figure } from './table.ts'

const USAGE = `bench [delivery|workflows] [--only ${Object.keys(ROWS).join(',')}] [--seconds S] [--rounds R] [--json] [--profile FOLDER]`

function readRequest() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      seconds: { type: 'string', default: '4' },
      rounds: { type: 'string', default: '3' },
      json: { type: 'boolean', default: false },
      /** The folder for Node's CPU profiles of every server of the run. */
      profile: { type: 'string' },
    },
  })
  const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
  const part = partOf(positionals[0])
  const names = values.only === undefined ? Object.keys(part?.rows ?? {}) : values.only.split(',')
  if (
    part === undefined ||
    !(seconds > 0) ||
    !Number.isInteger(rounds) ||
    rounds < 1 ||
    names.some((name) => !Object.hasOwn(ROWS, name))
  )
    throw new Error(USAGE)
  return { part, names, seconds, rounds, values }
}

function requestOrEnd(): ReturnType<typeof readRequest> {
  if (process.argv.includes('--help')) {
    console.log(USAGE)
    process.exit(0)
  }
  try {
    return readRequest()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(2)
  }
}

const { part, names, seconds, rounds, values } = requestOrEnd()
const stage = openStage({ seconds, rounds, profile: values.profile })
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stage.close().finally(() => process.exit(130)))

try {
  const conditions = await readConditions(stage)
  const figures: Figure[] = []
  try {
    for (const name of names) {
      stage.say(`measuring ${name} …`)
      // oxlint-disable-next-line no-await-in-loop -- one row at a time, or they would measure each other
      figures.push(...((await ROWS[name]?.(stage)) ?? []))
    }
  } catch (error) {
    // A run takes minutes, so the figures up to a failure are printed.
    console.log(tableOf(figures))
    throw error
  }
  const page = pageOf(part, figures, conditions)
  console.log(values.json ? JSON.stringify({ conditions, figures }, null, 2) : page)
  if (values.only === undefined) await writeFile(part.page, `# Figures\n\n${page}\n`)
} finally {
  await stage.close()
}

function pageOf({ command, notes }: Part, figures: readonly Figure[], conditions: Conditions): string {
  const flags = seconds === 4 && rounds === 3 ? '' : ` --seconds ${seconds} --rounds ${rounds}`
  return [
    tableOf(figures),
    '',
    `Printed by \`${command}${flags === '' || command.includes(' -- ') ? '' : ' --'}${flags}\`: medians of ${rounds} rounds of ${seconds} s, contenders in turns.`,
    `${conditions.cores} cores (${conditions.processor}) for the server, PostgreSQL, the load generator and the sink together.`,
    `Node ${conditions.node}, embedded PostgreSQL ${conditions.postgres} with its default settings.`,
    `Durability: ${conditions.durability}; one forced write of 8 KiB to the same disk takes ${conditions.forcedWriteMs.toFixed(2)} ms.`,
    '',
    ...notes(seconds),
  ].join('\n')
}
