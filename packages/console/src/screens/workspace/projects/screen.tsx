import { routes } from '@postroad/contract'
import { useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useState, type ReactElement } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import { every } from '../../../data/lists.ts'
import { usePlace, useRefusal, type Project } from '../../../data/place.ts'
import { CopyMeta, Detail, Part } from '../../../parts/detail.tsx'
import { RemoveDialog } from '../../../parts/remove-dialog.tsx'
import { ResourceScreen } from '../../../parts/resource-screen.tsx'
import { useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { NameForm } from '../../../parts/name-form.tsx'
import { NameAndSlugFields, nameAndSlugIn, type NameAndSlug } from '../../../parts/name-and-slug.tsx'
import { InSettings } from '../../../parts/settings-page.tsx'
import { NONE } from '../../../ui/glyph.tsx'
import { Ago } from '../../../ui/ago.tsx'
import { Button } from '../../../ui/button.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { Time } from '../../../ui/time.tsx'

const COLUMNS: readonly Column<Project>[] = [
  {
    id: 'name',
    label: 'Project',
    width: 'minmax(160px,1.4fr)',
    plain: true,
    cell: ({ name, slug }) => <TwoLines top={name} below={<span className="mono">{slug}</span>} />,
  },
  {
    id: 'default',
    label: 'Default',
    width: '64px',
    cell: ({ is_default }) => (is_default ? <span className="text-ink-3">Default</span> : NONE),
  },
  { id: 'at', label: 'Created', width: '96px', align: 'right', cell: ({ created_at }) => <Ago at={created_at} /> },
]
const SLIM = COLUMNS.slice(0, 1)
const VIEWS = [{ id: '', label: 'All', has: () => true }] as const

/** Reads the projects again, for the switcher too. */
const readAgain = (asking: QueryClient): Promise<void> => asking.invalidateQueries({ queryKey: ['projects'] })

/** The projects of the workspace. */
export function Screen(): ReactElement {
  const asked = useAsk(['projects', 'all'], (client, signal) => every(client.projects.list({ limit: 200 }, { signal })))
  const items = useCopyItemsOf()
  return (
    <InSettings>
      <ResourceScreen
        title="Projects"
        one="project"
        asked={asked}
        columns={COLUMNS}
        slim={SLIM}
        views={VIEWS}
        textOf={({ id, name, slug }) => [id, name, slug].join(' ')}
        create={{ label: 'New project', route: routes.projects.create, dialog: CreateDialog }}
        listItems={items({
          route: routes.projects.list,
        })}
        detail={ProjectDetail}
        never={{
          title: 'No projects',
          text: 'A project has its own endpoints, rules, datasets and destinations.',
        }}
      />
    </InSettings>
  )
}

function CreateDialog({
  onClose,
  onMade,
}: {
  readonly onClose: () => void
  readonly onMade: (id: string) => void
}): ReactElement {
  const [draft, setDraft] = useState({ name: '', slug: '' })
  const asking = useQueryClient()
  const create = useChange(['projects'], async (client, body: NameAndSlug) => {
    const made = await client.projects.create(body)
    await readAgain(asking)
    return made
  })
  return (
    <CreateWindow
      title="New project"
      lead="A project has its own endpoints, rules, datasets and destinations. Its slug is part of endpoint URLs."
      read={nameAndSlugIn(draft, 'Enter a project name.')}
      call={(body) => ({ route: routes.projects.create, body })}
      submit={(body) => create.mutate(body, { onSuccess: ({ project }) => onMade(project.id) })}
      change={create}
      onClose={onClose}
    >
      <NameAndSlugFields
        draft={draft}
        change={setDraft}
        placeholder="Staging"
        hint="Optional. Leave empty to generate the slug from the name. You cannot change it later."
      />
    </CreateWindow>
  )
}

function ProjectDetail({
  row: project,
  onClose,
}: {
  readonly row: Project
  readonly onClose: () => void
}): ReactElement {
  const { id, name, slug, is_default } = project
  const { me, project: opened } = usePlace()
  const [isRemoving, setRemoving] = useState(false)
  const refusal = useRefusal(routes.projects.remove)
  const items = useCopyItemsOf()
  const asking = useQueryClient()
  const isOpen = opened.id === id
  const stays = is_default
    ? 'You cannot delete the Default project.'
    : isOpen
      ? 'This project is open. Open another project first.'
      : undefined
  return (
    <Detail
      label="Project"
      title={name}
      chip={<span className="text-ink-3">{is_default ? 'Default project' : ''}</span>}
      onClose={onClose}
      meta={<CopyMeta text={id} label="Copy ID" />}
      actions={
        <>
          {!isOpen && <Button onClick={() => location.assign(`/${me.workspace.slug}/${slug}/events`)}>Open</Button>}
          <MoreMenu
            items={[
              ...items(
                {
                  route: routes.projects.update,
                  params: { id },
                  body: { name },
                },
                '“Rename”',
              ),
              ...items(
                {
                  route: routes.projects.remove,
                  params: { id },
                },
                '“Delete”',
              ),
            ]}
          />
        </>
      }
    >
      <div
        className="min-h-0 flex-1 overflow-y-auto border-t border-line"
        role="group"
        aria-label="Project"
        tabIndex={0}
      >
        <NamePart of={project} />
        <Part
          title="Delete"
          text="Deleting the project stops its endpoints and ingest keys immediately and deletes everything in it, including stored events. You cannot undo this."
          beside={
            <Button
              kind="danger"
              disabled={refusal !== undefined || stays !== undefined}
              title={refusal ?? stays}
              onClick={() => setRemoving(true)}
            >
              Delete…
            </Button>
          }
        >
          {(refusal ?? stays) !== undefined && <p className="text-ink-3">{refusal ?? stays}</p>}
        </Part>
      </div>
      {isRemoving && (
        <RemoveDialog
          name={name}
          removal={{
            verb: 'Delete',
            text: 'Senders get 404 immediately. Postroad deletes everything in the project, including events, deliveries, rules, destinations and keys.',
            rooms: ['projects'],
            run: async (client) => {
              await client.projects.remove({ id })
              await readAgain(asking)
            },
          }}
          onClose={() => setRemoving(false)}
          onRemoved={onClose}
        />
      )}
    </Detail>
  )
}

function NamePart({ of }: { readonly of: Project }): ReactElement {
  const { id, created_at, updated_at } = of
  const asking = useQueryClient()
  return (
    <NameForm
      one="Project"
      of={of}
      route={routes.projects.update}
      send={async (client, name) => {
        await client.projects.update({ id, name })
        await readAgain(asking)
      }}
      facts={[
        ['Created', <Time key="created" at={created_at} />],
        ['Changed', <Time key="updated" at={updated_at} />],
      ]}
    />
  )
}
