import type { Tool } from './tool.ts'

/** The caller, the workspace, its load, workflows and the audit log. */
export const project: readonly Tool[] = [
  {
    name: 'whoami',
    route: 'me.get',
    title: 'Who am I',
    description:
      'The user and role behind this credential, the workspace, and the project in which the other tools act by default. Call it first.',
  },
  {
    name: 'projects_list',
    route: 'projects.list',
    title: 'List projects',
    description: 'The projects of the workspace. The other tools take their id as project_id.',
  },
  {
    name: 'overview',
    route: 'dashboard.summary',
    title: 'Get an overview',
    description:
      'How many requests and deliveries the last 24 hours had, what failed, and which destinations fail now. A good start for "is anything wrong?".',
  },
  {
    name: 'workflow_instances_list',
    route: 'workflowInstances.list',
    title: 'List runs of workflows',
    description: 'Runs of workflows with their state and error. event_story with the id of a run has its steps.',
    says: {
      workflow_id: 'Only runs of this workflow (wfl_…).',
      record_id: 'Only runs that this event started (rec_…).',
      state:
        'One or more of `pending`, `running`, `sleeping`, `waiting`, `retrying`, `completed`, `failed`, `cancelled`, `paused`; separated by commas.',
    },
  },
  {
    name: 'deletions_list',
    route: 'deletions.list',
    title: 'List what was deleted',
    description:
      'The endpoints, rules, destinations and workflows that were deleted in the last 24 hours, by whom, and the id that deletion_restore takes.',
  },
  {
    name: 'deletion_restore',
    route: 'deletions.restore',
    title: 'Undo a deletion',
    description:
      'Restores what was deleted, with the same id, URL, secrets and settings. Send the deletion.id of the answer of the deletion, or one of deletions_list.',
  },
  {
    name: 'audit_list',
    route: 'audit.list',
    title: 'Read the audit log',
    description: 'Who changed what and when, agents and API keys included. details has the members before and after.',
    says: { target: 'Only changes to the resource with this id, of any kind.' },
    shows: ['id', 'at', 'actor', 'agent', 'action', 'target', 'ip', 'details'],
  },
]
