import type { ReasonTexts } from './reason-texts.ts'

/** Refusals about the workspace, its projects and its exports. */
export const workspace = {
  default_project: { status: 409, text: 'The Default project cannot be deleted. Delete what is in it instead.' },
  workspace_closed: {
    status: 403,
    text: 'This workspace is closed. Ask an owner to reopen it, which is possible until its data is deleted.',
  },
  workspace_limit_reached: {
    status: 403,
    text: 'You own as many workspaces as one person may. Close one, or transfer one to somebody else.',
  },
  export_running: {
    status: 409,
    text: 'An export of this workspace is being written already. Wait for it, or delete it.',
  },
  export_limit_reached: {
    status: 409,
    text: 'This workspace has as many exports as it may have. Delete one, or wait until one expires.',
  },
  export_over: { status: 410, text: 'This export has expired and its file is gone. Ask for a new one.' },
  range_not_satisfiable: {
    status: 416,
    text: 'The file ends before this range begins. Content-Range says how long it is; download it from the start.',
  },
} as const satisfies ReasonTexts
