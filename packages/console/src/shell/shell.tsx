import { ServiceError } from '@postroad/sdk'
import { useQuery } from '@tanstack/react-query'
import { Outlet, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, type ReactElement, type ReactNode } from 'react'
import { clientOf } from '../data/client.ts'
import { PlaceContext, type Me, type Place, type Project } from '../data/place.ts'
import { TailContext, tailOf } from '../data/use-tail.ts'
import { ProjectSlug } from '../ui/page.tsx'
import { Empty, Loading, Refused } from '../ui/states.tsx'
import { loaded } from '../ui/loaded.ts'
import { Toasts } from '../ui/toast.tsx'
import { PaletteProvider } from './palette-provider.tsx'
import { ShellKeys } from './shell-keys.tsx'
import { Side } from './side.tsx'
import { useHoldsInTail } from '../data/holds.ts'
import { useTabTitle } from './tab-title.ts'

const Banners = lazy(() => loaded(() => import('./banners.tsx').then(({ Banners: all }) => ({ default: all }))))

/** The frame of every screen of a project: the person, the place, the side bar, the live tail and the global keys. */
export function Shell(): ReactElement {
  const { workspace = '', project = '' } = useParams({ strict: false })
  const me = useMe()
  const projects = useQuery({
    queryKey: ['projects', me.data?.workspace.id],
    queryFn: async () => {
      const all = await allProjects()
      beginTail(all.find(({ slug }) => slug === project))
      return all
    },
    enabled: me.data?.workspace.slug === workspace,
  })
  // A later question that fails must not close the screens, because they can contain unsaved edits.
  if (me.error !== null && (me.data === undefined || isSignedOut(me.error)))
    return <Alone>{isSignedOut(me.error) ? null : <Refused error={me.error} again={me.refetch} />}</Alone>
  if (me.data === undefined)
    return (
      <Alone>
        <Loading />
      </Alone>
    )
  if (me.data.workspace.slug !== workspace)
    return <OtherWorkspace me={me.data} wanted={workspace} onSwitched={me.refetch} />
  if (projects.error !== null && projects.data === undefined)
    return (
      <Alone>
        <Refused error={projects.error} again={projects.refetch} />
      </Alone>
    )
  if (projects.data === undefined)
    return (
      <Alone>
        <Loading />
      </Alone>
    )
  return <InProject me={me.data} projects={projects.data} />
}

async function allProjects(): Promise<Place['projects']> {
  const found: Place['projects'][number][] = []
  for await (const project of clientOf().projects.list({ limit: 200 })) found.push(project)
  return found
}

/** Opens the first stream while React still draws the screen, because the list of Events waits for the stream. */
function beginTail(project: Project | undefined): void {
  if (project !== undefined) tailOf(project.id).begin()
}

function isSignedOut(error: Error): boolean {
  return error instanceof ServiceError && error.status === 401
}

/** The person who is signed in. Anyone else goes to the sign-in page, and then returns here. */
export function useMe(): ReturnType<typeof useQuery<Me>> {
  const me = useQuery({ queryKey: ['me'], queryFn: () => clientOf().me.get() })
  const signedOut = me.error !== null && isSignedOut(me.error)
  useEffect(() => {
    if (signedOut) location.assign(`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`)
  }, [signedOut])
  return me
}

function Alone({ children }: { readonly children: ReactNode }): ReactElement {
  return (
    <main className="m-2 h-[calc(100%-16px)] overflow-hidden rounded-page border border-line bg-surface">
      {children}
    </main>
  )
}

function InProject({ me, projects }: Pick<Place, 'me' | 'projects'>): ReactElement {
  const { workspace = '', project: slug = '' } = useParams({ strict: false })
  const project = projects.find((one) => one.slug === slug)
  if (project === undefined) {
    const home = projects.find((one) => one.is_default)
    return (
      <Alone>
        <Empty alone title={`There is no project “${slug}” in ${me.workspace.name}`}>
          It may have been deleted.{' '}
          <a className="text-accent underline" href={`/${workspace}/${home?.slug ?? ''}/events`}>
            Go to {home?.name ?? 'the Default project'}
          </a>
        </Empty>
      </Alone>
    )
  }
  return (
    <PlaceContext value={{ me, project, projects }}>
      <Toasts>
        <WithTail key={project.id} projectId={project.id}>
          <PaletteProvider>
            <ShellKeys />
            <div className="grid h-full grid-cols-[216px_minmax(0,1fr)] max-xl:grid-cols-[56px_minmax(0,1fr)] max-md:grid-cols-[minmax(0,1fr)] max-md:grid-rows-[minmax(0,1fr)_auto]">
              <Side />
              <main className="my-2 mr-2 flex min-h-0 max-md:order-first max-md:m-0 max-md:rounded-none max-md:border-0 min-w-0 flex-col overflow-hidden rounded-page border border-line bg-surface">
                <Suspense>
                  <Banners />
                </Suspense>
                <div className="min-h-0 flex-1">
                  <ProjectSlug value={projects.length > 1 ? project.slug : undefined}>
                    <Outlet />
                  </ProjectSlug>
                </div>
              </main>
            </div>
          </PaletteProvider>
        </WithTail>
      </Toasts>
    </PlaceContext>
  )
}

/** The tail continues while the person changes screens. */
function WithTail({ projectId, children }: { readonly projectId: string; readonly children: ReactNode }): ReactElement {
  const tail = tailOf(projectId)
  useEffect(() => {
    tail.open()
    return () => tail.close()
  }, [tail])
  return (
    <TailContext value={tail}>
      <TabTitle />
      {children}
    </TailContext>
  )
}

function TabTitle(): null {
  useHoldsInTail()
  useTabTitle()
  return null
}

/** The address names another workspace than the session's. The session switches to it if the person is a member. */
function OtherWorkspace({
  me,
  wanted,
  onSwitched,
}: {
  readonly me: Me
  readonly wanted: string
  readonly onSwitched: () => unknown
}): ReactElement {
  const own = useQuery({
    queryKey: ['switch', wanted],
    gcTime: 0,
    queryFn: async () => {
      for await (const one of clientOf().workspaces.list({ limit: 200 })) {
        if (one.slug === wanted) return (await clientOf().workspaces.switch({ workspace_id: one.id })).workspace.slug
      }
      return null
    },
  })
  useEffect(() => {
    if (own.data === wanted) void onSwitched()
  }, [own.data, wanted, onSwitched])
  if (own.error !== null)
    return (
      <Alone>
        <Refused error={own.error} again={own.refetch} />
      </Alone>
    )
  if (own.data !== null)
    return (
      <Alone>
        <Loading />
      </Alone>
    )
  return (
    <Alone>
      <Empty alone title={`You are not a member of the workspace “${wanted}”`}>
        Ask an admin for an invite, or{' '}
        <a className="text-accent underline" href={`/${me.workspace.slug}/${me.default_project.slug}/events`}>
          go to {me.workspace.name}
        </a>
        .
      </Empty>
    </Alone>
  )
}
