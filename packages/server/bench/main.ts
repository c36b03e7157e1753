import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { readConditions, type Conditions } from './conditions.ts'
import { partOf, ROWS, type Part } from './parts.ts'
import { openStage } from './stage.ts'
import { tableOf, textOf, type Figure } from './table.ts'

const USAGE = `bench [attacks|console|delivery|quiet|routes|search|workflows] [--only ${Object.keys(ROWS).join(',')}] [--seconds S] [--rounds R] [--records N,N] [--compared-records N] [--data FOLDER] [--json] [--profile FOLDER]`

function readRequest() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      seconds: { type: 'string', default: '4' },
      rounds: { type: 'string', default: '3' },
      /** The numbers of stored events that `search` asks about. */
      records: { type: 'string', default: '100000,1000000' },
      /** The most events for which `search` also asks SQL and a rival. */
      'compared-records': { type: 'string', default: '1000000' },
      /** The folder in which `search` retains its events for the next run, because millions take long to store. */
      data: { type: 'string' },
      json: { type: 'boolean', default: false },
      /** The folder for Node's CPU profiles of every server of the run. */
      profile: { type: 'string' },
    },
  })
  const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
  const records = values.records.split(',').map(Number)
  const comparedRecords = Number(values['compared-records'])
  const part = partOf(positionals[0])
  const names = values.only === undefined ? Object.keys(part?.rows ?? {}) : values.only.split(',')
  if (
    part === undefined ||
    !(seconds > 0) ||
    !Number.isInteger(rounds) ||
    rounds < 1 ||
    !Number.isInteger(comparedRecords) ||
    records.some((count) => !Number.isInteger(count) || count < 1) ||
    names.some((name) => !Object.hasOwn(ROWS, name))
  )
    throw new Error(USAGE)
  return { part, names, seconds, rounds, records, comparedRecords, values }
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

const { part, names, seconds, rounds, records, comparedRecords, values } = requestOrEnd()
const stage = openStage({ seconds, rounds, records, comparedRecords, data: values.data, profile: values.profile })
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
    console.log([tableOf(figures), ...stage.tables.map(textOf)].join('\n\n'))
    throw error
  }
  const page = pageOf(part, figures, conditions)
  console.log(values.json ? JSON.stringify({ conditions, figures, tables: stage.tables }, null, 2) : page)
  if (values.only === undefined && figures.length > 0) await writeFile(part.page, `# Figures\n\n${page}\n`)
} finally {
  await stage.close()
}

function pageOf({ command, notes }: Part, figures: readonly Figure[], conditions: Conditions): string {
  const flags = seconds === 4 && rounds === 3 ? '' : ` --seconds ${seconds} --rounds ${rounds}`
  return [
    tableOf(figures),
    '',
    `Printed by \`${command}${flags === '' || command.includes(' -- ') ? '' : ' --'}${flags}\`: medians of ${rounds} rounds of ${seconds} s; the contenders take turns.`,
    `${conditions.cores} cores (${conditions.processor}) for the server, PostgreSQL, the load generator and the sink together.`,
    `Node ${conditions.node}, embedded PostgreSQL ${conditions.postgres} with its default settings.`,
    `Durability: ${conditions.durability}; one forced write of 8 KiB to the same disk takes ${conditions.forcedWriteMs.toFixed(2)} ms.`,
    '',
    ...notes(seconds, records),
    ...stage.tables.flatMap((table) => ['', textOf(table)]),
  ].join('\n')
}
