/** The part that the consent page and the page of a device share: who asks, where it may work, and how much it may do. */

const LADDER = [
  { scope: 'service:read', label: 'Read', text: 'See endpoints, events, deliveries and settings.', role: 'viewer' },
  {
    scope: 'service:write',
    label: 'Read and write',
    text: 'Also create, change and delete in projects, and replay deliveries.',
    role: 'developer',
  },
  {
    scope: 'service:manage',
    label: 'Manage',
    text: 'Also what admins do: audit log, exports, network access.',
    role: 'admin',
  },
]
const ROLES = ['viewer', 'developer', 'admin', 'owner']

/** Calls the OAuth server with the session cookie. Throws the server's own sentence. */
export async function ask(method, path, body) {
  const response = await fetch(path, {
    method,
    headers: { 'X-Requested-With': 'postroad', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = await response.json()
  if (response.status === 401)
    location.assign(`/sign-in?${new URLSearchParams({ next: location.pathname + location.search })}`)
  if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status, reason: answer.reason })
  return answer
}

/** An element with text or other elements in it. Text is never read as HTML. */
export function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}

/** Shows the request in `place`. Returns a function that gives the choice. */
export function showChoice(place, { facts, warning, asked }) {
  const workspace = workspaceField(asked.workspaces)
  const ladder = make('div', { className: 'ladder' })
  const note = make('p', { className: 'fine', hidden: true })
  const chosen = () => asked.workspaces.find(({ id }) => id === workspace.value())
  const redraw = () => drawLadder({ ladder, note, asked, workspace: chosen() })
  workspace.onChange(redraw)
  const list = make('dl', { className: 'facts' })
  for (const [name, value] of [...facts, ['Account', asked.account.email ?? asked.account.name]])
    list.append(make('dt', {}, name), make('dd', {}, value))
  list.append(make('dt', {}, 'Workspace'), make('dd', {}, workspace.element))
  place.replaceChildren(
    list,
    ...(warning === undefined ? [] : [make('p', { className: 'warning' }, warning)]),
    make('fieldset', {}, make('legend', {}, 'It may'), ladder, note),
    make(
      'p',
      { className: 'fine' },
      'It never reaches billing, members, invites, API keys, or the signing secrets of destinations. You can change or end this at any time under Connected agents.',
    ),
  )
  redraw()
  place.hidden = false
  return () => ({
    workspace_id: workspace.value(),
    scope: ladder.querySelector('input:checked')?.value,
  })
}

function workspaceField(workspaces) {
  if (workspaces.length === 1) {
    const [only] = workspaces
    return { element: make('span', {}, only.name), value: () => only.id, onChange: () => undefined }
  }
  const select = make('select', { id: 'workspace', ariaLabel: 'Workspace' })
  for (const { id, name } of workspaces) select.append(make('option', { value: id }, name))
  return { element: select, value: () => select.value, onChange: (redraw) => select.addEventListener('change', redraw) }
}

/** The rungs. The asked one is selected; in a workspace where the program is connected already, the one that it has. */
function drawLadder({ ladder, note, asked, workspace }) {
  const selected = workspace.scope ?? asked.asked_scope
  ladder.replaceChildren(
    ...LADDER.map(({ scope, label, text }) => {
      const tags = [
        ...(scope === asked.asked_scope ? ['asked for'] : []),
        ...(scope === workspace.scope ? ['now'] : []),
      ]
      return make(
        'label',
        { className: 'rung' },
        make('input', { type: 'radio', name: 'scope', value: scope, checked: scope === selected }),
        make(
          'span',
          {},
          make('strong', {}, label, ...tags.map((tag) => make('small', { className: 'tag' }, tag))),
          make('small', {}, text),
        ),
      )
    }),
  )
  const rank = ROLES.indexOf(workspace.role)
  const reached = LADDER.findLast(({ role }) => ROLES.indexOf(role) <= rank) ?? LADDER[0]
  note.hidden = reached === LADDER.at(-1)
  note.textContent = `Your role in this workspace is ${workspace.role}, so the program can do no more than “${reached.label}”, whatever you select.`
}
