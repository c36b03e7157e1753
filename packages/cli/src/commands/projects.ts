import type { RouteAnswer, Routes } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import type { Command } from 'commander'
import { connect } from '../connection.ts'
import { EXIT, Failure } from '../failure.ts'
import { invokedAs, withExample, withPages, withWorkspace, type CommonOptions, type ListOptions } from '../options.ts'
import { print } from '../output.ts'
import { more } from '../text/more.ts'
import { plain } from '../text/plain.ts'
import { style } from '../text/style.ts'
import { fields, table } from '../text/table.ts'
import { confirmDeletion, withYes, type ConfirmOptions } from './confirm.ts'

type Listed = RouteAnswer<Routes['projects']['list']>
type Shown = RouteAnswer<Routes['projects']['get']>

export function addProjects(program: Command): void {
  const projects = program
    .command('projects')
    .summary('list, create, rename and delete projects')
    .description('Projects group endpoints, rules, datasets and destinations.')
  const list = projects
    .command('list')
    .summary('list projects')
    .description('Lists the projects of the workspace, newest first.')
    .action(listProjects)
  withExample(withWorkspace(withPages(list)), 'projects list')

  const create = projects
    .command('create')
    .argument('<name>', 'name of the project')
    .summary('create a project')
    .description('Creates a project.')
    .option('--slug <slug>', 'part of its endpoint URLs; it cannot change (default: made from the name)')
    .action(createProject)
  withExample(withWorkspace(create), 'projects create Shop --slug shop')

  const rename = projects
    .command('rename')
    .argument('<project>', 'slug or id of the project')
    .argument('<name>', 'new name')
    .summary('rename a project')
    .description('Changes the name of a project. The slug stays, because it is part of URLs.')
    .action(renameProject)
  withExample(withWorkspace(rename), `projects rename shop 'Web shop'`)

  const remove = projects
    .command('delete')
    .argument('<project>', 'slug or id of the project')
    .summary('delete a project and everything in it')
    .description('Deletes a project with its endpoints, events and destinations.')
    .action(deleteProject)
  withExample(withYes(withWorkspace(remove)), 'projects delete shop --yes')
}

async function projectId(client: Client, named: string): Promise<string> {
  if (named.startsWith('prj_')) return named
  for await (const { id, slug } of client.projects.list({ limit: 200 })) if (slug === named) return id
  throw new Failure(`There is no project "${named}" here. See ${invokedAs()} projects list.`, EXIT.notFound)
}

async function listProjects({ limit, cursor, ...options }: ListOptions): Promise<void> {
  const { client } = await connect(options)
  const answer = await client.projects.list({ limit, cursor })
  print({ json: answer, ids: answer.projects.map(({ id }) => id), text: () => listText(answer) }, options)
}

function listText({ projects, next_cursor }: Listed): string {
  const rows = table([
    { head: 'Project', cells: projects.map(({ id }) => id) },
    { head: 'Slug', cells: projects.map(({ slug }) => slug), least: 10 },
    { head: 'Name', cells: projects.map(({ name }) => name), least: 10 },
    { head: 'Created', cells: projects.map(({ created_at }) => created_at.slice(0, 10)), spare: true },
  ])
  return [rows, ...more(next_cursor)].join('\n')
}

function show(answer: Shown, options: CommonOptions): void {
  const { id, slug, name } = answer.project
  const text = (): string =>
    fields([
      ['Project', `${id}  ${plain(name)}`],
      ['Slug', plain(slug)],
      ['Next', `${invokedAs()} endpoints create <name> --project ${slug}`],
    ])
  print({ json: answer, ids: [id], text }, options)
}

async function createProject(
  name: string,
  { slug, ...options }: CommonOptions & { readonly slug?: string },
): Promise<void> {
  const { client } = await connect(options)
  show(await client.projects.create({ name, slug }), options)
}

async function renameProject(named: string, name: string, options: CommonOptions): Promise<void> {
  const { client } = await connect(options)
  show(await client.projects.update({ id: await projectId(client, named), name }), options)
}

async function deleteProject(named: string, options: CommonOptions & ConfirmOptions): Promise<void> {
  const { client } = await connect(options)
  const id = await projectId(client, named)
  await confirmDeletion(`This deletes the project ${named} with its endpoints, events and destinations.`, options)
  const answer = await client.projects.remove({ id })
  print(
    { json: answer, ids: [id], text: () => `Deleted ${id}. ${style.dim('Its data is erased in the background.')}` },
    options,
  )
}
