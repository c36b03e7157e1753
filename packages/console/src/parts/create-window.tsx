import { useId, type FormEvent, type ReactElement, type ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { RefusedLine } from '../ui/states.tsx'
import { CopyAs, type CopiedCall } from './copy-as.tsx'

type Props<Body> = {
  readonly title: string
  readonly lead: string | undefined
  /** The body of the request, or the reason why the form is not complete. */
  readonly read: { readonly body: Body } | { readonly problem: string }
  /** The same call to copy, if there is one yet. It contains no secret. */
  readonly call: (body: Body) => CopiedCall | undefined
  readonly submit: (body: Body) => void
  /** The state of the request. */
  readonly change: { readonly error: Error | null; readonly isPending: boolean }
  /** The text of the main button. */
  readonly verb?: string
  /** It destroys something, or cannot be undone. */
  readonly danger?: boolean
  readonly wide?: boolean
  readonly onClose: () => void
  /** Goes to the choice before the form, where there is one. */
  readonly onBack?: () => void
  /** The fields. */
  readonly children: ReactNode
  /** Below the form, for parts with their own controls. */
  readonly below?: ReactNode
}

/** The window of every form that creates something or confirms a change with typed text: the fields, the refusal, the call to copy, and the main button last. */
export function CreateWindow<Body>({
  title,
  lead,
  read,
  call,
  submit,
  change,
  verb = 'Create',
  danger = false,
  wide = false,
  onClose,
  onBack,
  children,
  below,
}: Props<Body>): ReactElement {
  const form = useId()
  const send = (event: FormEvent): void => {
    event.preventDefault()
    if ('body' in read) submit(read.body)
  }
  return (
    <Dialog
      open
      wide={wide}
      onClose={onClose}
      title={title}
      lead={lead}
      actions={
        <>
          {onBack !== undefined && <Button onClick={onBack}>Back</Button>}
          <CopyAs className="mr-auto" call={'body' in read ? call(read.body) : undefined} />
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind={danger ? 'danger' : 'primary'}
            type="submit"
            form={form}
            disabled={'problem' in read || change.isPending}
            title={'problem' in read ? read.problem : undefined}
          >
            {verb}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={send}>
        {children}
        <RefusedLine error={change.error} />
      </form>
      {below}
    </Dialog>
  )
}
