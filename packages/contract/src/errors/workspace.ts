import type { ReasonTexts } from './reason-texts.ts'

/** Refusals about the workspace, its projects and its exports. */
export const workspace = {
  default_project: { status: 409, text: 'The Default project cannot be deleted. Delete its contents instead.' },
  project_changed: {
    status: 409,
    text: 'The project has changed since this plan, so nothing was applied. Plan again, read the new plan, and apply that one.',
  },
  alert_resolved: {
    status: 409,
    text: 'This alert has resolved, so nothing more is sent about it.',
  },
  workspace_closed: {
    status: 403,
    text: 'This workspace is closed. Ask an owner to reopen it, which is possible until its data is deleted.',
  },
  workspace_limit_reached: {
    status: 403,
    text: 'You own the maximum number of workspaces. Close one, or transfer one to someone else.',
  },
  own_address_missing: {
    status: 400,
    text: 'The list does not contain the address that you send from, so it would lock you out. Add that address, then save the list again.',
  },
  workspace_creation_closed: {
    status: 403,
    text: 'Only operators of this installation can create workspaces. Ask an operator for one.',
  },
  billing_not_configured: {
    status: 404,
    text: 'This installation has no payment provider. Ask an operator to change the plan.',
  },
  payment_provider_error: {
    status: 502,
    text: 'The payment provider did not respond correctly, and nothing was charged. Try again in a moment. The server log contains the cause.',
  },
  export_running: {
    status: 409,
    text: 'An export of this workspace is already being written. Wait for it, or delete it.',
  },
  export_limit_reached: {
    status: 409,
    text: 'This workspace has the maximum number of exports. Delete one, or wait until one expires.',
  },
  export_over: { status: 410, text: 'This export has expired, and its file was deleted. Create a new one.' },
  range_not_satisfiable: {
    status: 416,
    text: 'The file ends before this range starts. Content-Range contains its length; download it from the start.',
  },
} as const satisfies ReasonTexts
