import type { z } from 'zod'
import { AgentAccount, Challenge, Solution } from '../agent-registration.ts'
import { Condition } from '../condition.ts'
import { Decision, Failure } from '../decision.ts'
import { DestinationConfig } from '../destination-kinds.ts'
import {
  DestinationAuth,
  DestinationProxy,
  DestinationTls,
  ShownAuth,
  ShownProxy,
  ShownTls,
} from '../destination-auth.ts'
import { Breaker, Headers, Ordering, PayloadTemplate, RateLimit, Retry } from '../destination-settings.ts'
import { DryRun } from '../dry-run.ts'
import { Split } from '../body-reading.ts'
import { EndpointResponse } from '../endpoint-response.ts'
import { EventSummary } from '../event-summary.ts'
import { Accepted, Envelope } from '../envelope.ts'
import { ErrorBody } from '../errors.ts'
import { Cors } from '../gates.ts'
import { Handshake, HandshakeCreate, HandshakePatch } from '../handshake.ts'
import { Idempotency } from '../idempotency.ts'
import { Mapping } from '../mapping.ts'
import { ProjectConfig } from '../project-config.ts'
import { Rejection, RejectionReason } from '../rejection.ts'
import { WorkflowInstance, WorkflowStepRun } from '../routes/automation/workflow-instances.ts'
import { Workflow, WorkflowDefinition, WorkflowDryRun, WorkflowVersion } from '../routes/automation/workflows.ts'
import { AiAgent } from '../routes/automation/ai-agents.ts'
import { AiProvider } from '../routes/automation/ai-providers.ts'
import { AiRun } from '../routes/automation/ai-runs.ts'
import { AiTrigger } from '../routes/automation/triggers.ts'
import { ActivityRow } from '../routes/capture/activity.ts'
import { Dataset } from '../routes/capture/datasets.ts'
import { DatasetSchema } from '../routes/capture/dataset-schemas.ts'
import { IngestKey } from '../routes/capture/ingest-keys.ts'
import { Quarantine } from '../routes/capture/quarantine.ts'
import { RecordColumn, RecordView } from '../routes/capture/record-views.ts'
import { RecordItem } from '../routes/capture/records.ts'
import { Rule } from '../routes/capture/rules.ts'
import { SourcePreset } from '../routes/capture/source-presets.ts'
import { Submission, SubmissionDetail } from '../routes/capture/submissions.ts'
import { Version, Webhook, WebhookConfig } from '../routes/capture/webhooks.ts'
import { Attempt, Delivery, ListedDelivery } from '../routes/delivery/deliveries.ts'
import { DestinationPreset } from '../routes/delivery/destination-presets.ts'
import { Destination } from '../routes/delivery/destinations.ts'
import { Filter, Replay, ReplayPlan } from '../routes/delivery/replays.ts'
import { ApiKey } from '../routes/people/api-keys.ts'
import { ConnectedAgent } from '../routes/people/connected-agents.ts'
import { Invite } from '../routes/people/invites.ts'
import { Member } from '../routes/people/members.ts'
import { OriginError } from '../origin-error.ts'
import { DataKey } from '../routes/serving/data-keys.ts'
import { CustomerPlace } from '../customer-setting.ts'
import {
  PortalAccess,
  PortalDelivery,
  PortalDestination,
  PortalEventType,
  PublicPortal,
  ShownCustomer,
  ShownPortal,
} from '../portal-api.ts'
import { PortalBranding } from '../portal-settings.ts'
import { Portal } from '../routes/serving/portals.ts'
import { PortalCustomer } from '../routes/serving/portal-customers.ts'
import { PortalToken } from '../routes/serving/portal-tokens.ts'
import { Forwarder, ForwarderProgress } from '../routes/serving/forwarders.ts'
import { ForwarderPreset } from '../forwarder-presets.ts'
import { Moment, Story } from '../routes/serving/search.ts'
import { CronTrigger } from '../routes/sources/cron-triggers.ts'
import { WsTrigger } from '../routes/sources/ws-triggers.ts'
import { Source } from '../routes/sources/sources.ts'
import { ShownSourceSettings, SourceSettings } from '../source-settings.ts'
import { AuditRow, Verification as AuditVerification } from '../routes/workspace/audit.ts'
import { DataExport } from '../routes/workspace/data-export.ts'
import { Deletion } from '../routes/workspace/deletions.ts'
import { MapEnd, MapNode, MapOmitted } from '../routes/workspace/map.ts'
import { Project } from '../routes/workspace/projects.ts'
import { Own, Workspace } from '../routes/workspace/workspaces.ts'
import { SentBody, SentRequest } from '../sent-request.ts'
import { SignatureExplanation } from '../signature-explanation.ts'
import { Verification, VerificationCreate, VerificationPatch } from '../verification.ts'
import { Step } from '../workflow-steps.ts'

/** The schemas that programs refer to by name. Every operation of the OpenAPI document refers to these instead of repeating them. */
export const NAMED_SCHEMAS = {
  Accepted,
  ActivityRow,
  AgentAccount,
  AgentChallenge: Challenge,
  AgentSolution: Solution,
  AiAgent,
  AiProvider,
  AiRun,
  AiTrigger,
  ApiKey,
  ConnectedAgent,
  Attempt,
  AuditRow,
  AuditVerification,
  Breaker,
  Condition,
  Cors,
  CronTrigger,
  CustomHeaders: Headers,
  CustomerPlace,
  DataExport,
  Dataset,
  Decision,
  Deletion,
  Delivery,
  DeliveryEnvelope: Envelope,
  Destination,
  DestinationAuth,
  DestinationConfig,
  DestinationPreset,
  DestinationProxy,
  DestinationTls,
  DryRun,
  EndpointResponse,
  Split,
  Error: ErrorBody,
  EventSummary,
  Forwarder,
  ForwarderPreset,
  ForwarderProgress,
  FailedCondition: Failure,
  Handshake,
  HandshakeCreate,
  HandshakePatch,
  Idempotency,
  IngestKey,
  MapEnd,
  MapNode,
  MapOmitted,
  DataKey,
  Portal,
  PortalAccess,
  PortalBranding,
  PortalCustomer,
  PortalDelivery,
  PortalDestination,
  PortalEventType,
  PortalToken,
  PublicPortal,
  ShownCustomer,
  ShownPortal,
  DatasetSchema,
  Invite,
  ListedDelivery,
  Mapping,
  Member,
  Ordering,
  Quarantine,
  OriginError,
  OwnWorkspace: Own,
  PayloadTemplate,
  Project,
  ProjectConfig,
  RateLimit,
  Record: RecordItem,
  RecordColumn,
  RecordView,
  Rejection,
  RejectionReason,
  Replay,
  ReplayFilter: Filter,
  ReplayPlan,
  RetrySchedule: Retry,
  Rule,
  SentBody,
  SentRequest,
  ShownDestinationAuth: ShownAuth,
  ShownDestinationProxy: ShownProxy,
  ShownDestinationTls: ShownTls,
  SignatureExplanation,
  ShownSourceSettings,
  Source,
  SourcePreset,
  SourceSettings,
  Story,
  StoryMoment: Moment,
  Submission,
  SubmissionDetail,
  Verification,
  VerificationCreate,
  VerificationPatch,
  Webhook,
  WebhookConfig,
  WebhookVersion: Version,
  Workflow,
  WorkflowDefinition,
  WorkflowDryRun,
  WorkflowInstance,
  WorkflowStep: Step,
  WorkflowStepRun,
  WorkflowVersion,
  Workspace,
  WsTrigger,
} as const satisfies Record<string, z.ZodType>
