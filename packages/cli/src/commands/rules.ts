import type { RouteAnswer, RouteRequest, Routes } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import type { Command } from 'commander'
import { connect } from '../connection.ts'
import { EXIT, Failure } from '../failure.ts'
import { invokedAs, withCommon, withExample, withList, type CommonOptions, type ListOptions } from '../options.ts'
import { print } from '../output.ts'
import { more } from '../text/more.ts'
import { plain } from '../text/plain.ts'
import { onOff } from '../text/state.ts'
import { style } from '../text/style.ts'
import { fields, table } from '../text/table.ts'
import { confirmDeletion, withYes, type ConfirmOptions } from './confirm.ts'
import { changedMembers, membersOf, type SwitchOptions } from './members.ts'

type Listed = RouteAnswer<Routes['rules']['list']>
type Shown = RouteAnswer<Routes['rules']['get']>
type EditOptions = CommonOptions &
  SwitchOptions & {
    readonly name?: string
    readonly dataset?: string
  }

const DATA_HELP = 'conditions and mappings, as in the API: JSON, @file, or - for stdin'

export function addRules(program: Command): void {
  const rules = program
    .command('rules')
    .summary('list, create, edit and delete rules')
    .description('Rules file the events of POST /v1/ingest/{ingest_key} in datasets.')
  const list = rules
    .command('list')
    .summary('list rules')
    .description('Lists the rules, newest first.')
    .action(listRules)
  withExample(withList(list), 'rules list')

  const get = rules
    .command('get')
    .argument('<rule>', 'id or name of the rule')
    .summary('show a rule')
    .description('Shows a rule with its conditions and mappings.')
    .action(getRule)
  withExample(withCommon(get), `rules get 'Large orders'`)

  const create = rules
    .command('create')
    .argument('<name>', 'name of the rule')
    .argument('<dataset>', 'dataset that it files events in')
    .summary('create a rule')
    .description('Creates a rule. Without conditions it matches every event.')
    .option('-d, --data <json>', DATA_HELP)
    .action(createRule)
  withExample(withCommon(create), 'rules create Paid paid', 'rules create Large large -d @rule.json')

  const edit = rules
    .command('edit')
    .argument('<rule>', 'id or name of the rule')
    .summary('change a rule')
    .description('Changes the settings that you name. The others stay as they are.')
    .option('--name <name>', 'new name')
    .option('--dataset <dataset>', 'dataset that it files events in')
    .option('--on', 'switch it on')
    .option('--off', 'switch it off')
    .option('-d, --data <json>', DATA_HELP)
    .action(editRule)
  withExample(withCommon(edit), 'rules edit Large --off')

  const remove = rules
    .command('delete')
    .argument('<rule>', 'id or name of the rule')
    .summary('delete a rule')
    .description('Deletes a rule. The records that it filed stay.')
    .action(deleteRule)
  withExample(withYes(withCommon(remove)), 'rules delete Large --yes')
}

export async function ruleId(client: Client, named: string): Promise<string> {
  if (named.startsWith('rul_')) return named
  for await (const { id, name } of client.rules.list({ limit: 200 })) if (name === named) return id
  throw new Failure(`There is no rule "${named}" here. See ${invokedAs()} rules list.`, EXIT.notFound)
}

async function listRules({ limit, cursor, ...options }: ListOptions): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.rules.list({ limit, cursor })
  print({ json: answer, ids: answer.rules.map(({ id }) => id), text: () => listText(answer) }, options)
}

function listText({ rules, next_cursor }: Listed): string {
  if (rules.length === 0) return `There are no rules here. Create one: ${invokedAs()} rules create <name> <dataset>`
  const rows = table([
    { head: 'State', cells: rules.map(({ enabled }) => onOff(enabled)) },
    { head: 'Rule', cells: rules.map(({ id }) => id) },
    { head: 'Name', cells: rules.map(({ name }) => name), least: 10 },
    { head: 'Dataset', cells: rules.map(({ dataset }) => dataset), least: 8 },
    {
      head: 'Conditions',
      cells: rules.map(({ conditions }) => String(conditions.length)),
      align: 'right',
      spare: true,
    },
    { head: 'Mappings', cells: rules.map(({ mappings }) => String(mappings.length)), align: 'right', spare: true },
  ])
  return [rows, ...more(next_cursor)].join('\n')
}

function show(answer: Shown, options: CommonOptions): void {
  print({ json: answer, ids: [answer.rule.id], text: () => ruleText(answer) }, options)
}

const lines = (items: readonly unknown[], none: string): string =>
  items.length === 0 ? none : items.map((item) => plain(JSON.stringify(item))).join('\n')

/** One condition or mapping on each line, in the form that -d takes. */
function ruleText({ rule }: Shown): string {
  return fields([
    ['Rule', `${rule.id}  ${plain(rule.name)}`],
    ['State', onOff(rule.enabled)],
    ['Dataset', plain(rule.dataset)],
    ['Conditions', lines(rule.conditions, 'none: it matches every event')],
    ['Mappings', lines(rule.mappings, 'none: the record is the whole payload')],
  ])
}

async function getRule(named: string, options: CommonOptions): Promise<void> {
  const { client } = await connect(options)
  show(await client.rules.get({ id: await ruleId(client, named) }), options)
}

async function createRule(name: string, dataset: string, options: EditOptions): Promise<void> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server checks the input and names the mistake
  const request = (await membersOf(options, { name, dataset })) as RouteRequest<Routes['rules']['create']>
  const { client } = await connect(options)
  show(await client.rules.create(request), options)
}

async function editRule(named: string, options: EditOptions): Promise<void> {
  const { name, dataset } = options
  const members = await changedMembers(options, { name, dataset })
  const { client } = await connect(options)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
  const request = { ...members, id: await ruleId(client, named) } as RouteRequest<Routes['rules']['update']>
  show(await client.rules.update(request), options)
}

async function deleteRule(named: string, options: CommonOptions & ConfirmOptions): Promise<void> {
  const { client } = await connect(options)
  const id = await ruleId(client, named)
  await confirmDeletion(`This deletes the rule ${named}.`, options)
  const answer = await client.rules.remove({ id })
  print(
    { json: answer, ids: [id], text: () => `Deleted ${id}. ${style.dim('The records that it filed stay.')}` },
    options,
  )
}
