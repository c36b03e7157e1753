import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import type { RouteAnswer, RouteRequest, Routes } from '@postroad/contract'
import { InvalidArgumentError, type Command } from 'commander'
import { agrees, canAsk } from '../ask.ts'
import { checkConfig, readConfigFile } from '../config-file.ts'
import { appliedText, planText } from '../config-text.ts'
import { connect, type Connection } from '../connection.ts'
import { Ended, EXIT, Failure } from '../failure.ts'
import { io } from '../io.ts'
import { invokedAs, withCommon, withExample, type CommonOptions } from '../options.ts'
import { print } from '../output.ts'
import { fields } from '../text/table.ts'
import { withYes, type ConfirmOptions } from './confirm.ts'

type Plan = RouteAnswer<Routes['config']['plan']>['plan']
type Asked = Pick<RouteRequest<Routes['config']['plan']>, 'config' | 'delete_missing'>
type PlanOptions = CommonOptions & { readonly delete?: true; readonly recent: number; readonly exitCode?: true }

const FILE = 'postroad.json'
const RECENT = 100
const RECENT_MAX = 1_000

export function addConfig(program: Command): void {
  const config = program
    .command('config')
    .summary('export a project as a file, plan changes to it and apply them')
    .description(
      'A project as code: endpoints, rules, record views and destinations in one\nJSON file, with nothing secret in it.',
    )
  const pull = config
    .command('pull')
    .argument('[file]', 'where to write it, or - for stdout', FILE)
    .summary('write the configuration of a project to a file')
    .description('Writes the configuration of a project to a file, for git.')
    .action(pullConfig)
  withExample(withCommon(pull), 'config pull', 'config pull shop.json --project shop')

  const plan = config
    .command('plan')
    .argument('[file]', 'the configuration, or - for stdin', FILE)
    .summary('show what a configuration would change')
    .description(
      'Compares a configuration with the project. Shows what applying it would create,\nchange and delete, and how the newest events would be routed differently.\nNothing is written.',
    )
    .option('--exit-code', 'exit with code 6 if the project does not match the file')
    .action(planConfig)
  withExample(withPlan(withCommon(plan)), 'config plan', 'config plan shop.json --project shop --exit-code')

  const apply = config
    .command('apply')
    .argument('[file]', 'the configuration, or - for stdin', FILE)
    .summary('apply a configuration to a project')
    .description('Shows the plan, asks for confirmation, and applies all changes in one transaction, or none.')
    .action(applyConfig)
  withExample(withYes(withPlan(withCommon(apply))), 'config apply', 'config apply shop.json --project shop --yes')
}

function withPlan(command: Command): Command {
  return command
    .option('--delete', 'also delete resources that are not in the file')
    .option('--recent <count>', `number of newest events to route both ways, 0 to ${RECENT_MAX}`, recentOf, RECENT)
}

function recentOf(text: string): number {
  const count = Number(text)
  if (!/^\d+$/.test(text) || count > RECENT_MAX)
    throw new InvalidArgumentError(`It is a number from 0 to ${RECENT_MAX}.`)
  return count
}

async function pullConfig(file: string, options: CommonOptions): Promise<void> {
  if (file !== '-' && existsSync(file)) await readConfigFile(file, { toReplace: true })
  const { client } = await connect(options)
  let text = ''
  for await (const piece of await client.config.export()) text += piece
  if (file === '-') {
    io().stdout.write(text)
    return
  }
  await writeFile(file, text).catch(() => {
    throw new Failure(`${file} cannot be written. Name another file.`, EXIT.usage)
  })
  const { endpoints = [], rules = [], record_views = [], destinations = [] }: Counted = JSON.parse(text)
  const counts = { endpoints, rules, record_views, destinations }
  const rows = Object.entries(counts).map(([kind, { length }]) => [headOf(kind), String(length)] as const)
  const json = { file, ...Object.fromEntries(Object.entries(counts).map(([kind, { length }]) => [kind, length])) }
  const next = ['Next', `${invokedAs()} config plan${file === FILE ? '' : ` ${file}`}`] as const
  print({ json, ids: [file], text: () => fields([['File', file], ...rows, next]) }, options)
}

type Counted = Readonly<Partial<Record<'endpoints' | 'rules' | 'record_views' | 'destinations', readonly unknown[]>>>

const headOf = (kind: string): string => kind.slice(0, 1).toUpperCase() + kind.slice(1).replace('_', ' ')

async function planConfig(file: string, options: PlanOptions): Promise<void> {
  const connection = await connect(options)
  const { answer } = await planned(connection, file, options)
  print({ json: answer, ids: [answer.plan.id], text: () => planText(answer.plan, file) }, options)
  if (options.exitCode === true && !answer.plan.empty) throw new Ended(EXIT.changes)
}

type Planned = { readonly answer: RouteAnswer<Routes['config']['plan']>; readonly asked: Asked }

async function planned(connection: Connection, file: string, options: PlanOptions): Promise<Planned> {
  const { config, plain } = await readConfigFile(file)
  await checkConfig(connection, { file, plain })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server checks the rest and names the mistake
  const asked = { config, delete_missing: options.delete === true } as Asked
  return { answer: await connection.client.config.plan({ ...asked, recent: options.recent }), asked }
}

async function applyConfig(file: string, options: PlanOptions & ConfirmOptions): Promise<void> {
  const connection = await connect(options)
  const { answer, asked } = await planned(connection, file, options)
  const { plan } = answer
  if (changesOf(plan) === 0) {
    const { needs_verification_secret, needs_secrets } = plan
    const applied = { create: [], change: [], delete: [], needs_verification_secret, needs_secrets }
    return print({ json: { applied }, ids: [], text: () => planText(plan, file) }, options)
  }
  await confirm(planText(plan, file), options)
  const done = await connection.client.config.apply({ ...asked, plan: plan.id })
  print({ json: done, ids: [], text: () => appliedText(done.applied) }, options)
}

const changesOf = ({ create, change, delete: gone }: Plan): number => create.length + change.length + gone.length

async function confirm(text: string, { yes, json, quiet }: PlanOptions & ConfirmOptions): Promise<void> {
  if (yes === true) return
  if (!canAsk() || json === true || quiet === true)
    throw new Failure('This changes the project. Look at the plan with "config plan", then add --yes.', EXIT.usage)
  if (!(await agrees(text, 'Apply it?'))) throw new Failure('Nothing was applied.')
}
