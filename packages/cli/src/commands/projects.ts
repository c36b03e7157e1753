import type { Command } from 'commander'
import { connect } from '../connection.ts'
import { invokedAs, withExample, withWorkspace, type CommonOptions } from '../options.ts'
import { print } from '../output.ts'
import { changeProfiles } from '../profiles.ts'
import { fields } from '../text/table.ts'

/** The room `projects`, whose other commands are made from its routes. */
export function addProjects(program: Command): void {
  const projects = program
    .command('projects')
    .alias('project')
    .summary('list, create, update and delete projects, and choose one')
    .description('The groups of endpoints, events and destinations in the workspace.')
  const use = projects
    .command('use')
    .argument('<project>', 'slug or id of the project')
    .summary('use a project by default in every command')
    .description(
      'Stores a project for this server on this machine. Every command without --project uses it from then on. "default" is the Default project.',
    )
    .action(useProject)
  withExample(withWorkspace(use), 'project use shop')
}

async function useProject(named: string, options: CommonOptions): Promise<void> {
  const { client, baseUrl, project: found = named } = await connect({ ...options, project: named })
  const { project } = await client.projects.get({ id: found })
  const { id, slug } = project
  await changeProfiles((from) => ({ ...from, projects: { ...from.projects, [baseUrl]: { id, slug } } }))
  const text = (): string =>
    fields([
      ['Project', `${id}  ${slug}`],
      ['Server', baseUrl],
      ['Next', `${invokedAs()} endpoints list`],
    ])
  print({ json: { project, server: baseUrl }, ids: [id], text }, options)
}
