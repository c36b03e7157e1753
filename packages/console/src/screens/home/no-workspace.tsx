import { LIMITS } from '@postroad/contract'
import { ServiceError } from '@postroad/sdk/service-error'
import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent, type ReactElement } from 'react'
import { callSession, clientOf } from '../../data/client.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { RefusedLine } from '../../ui/states.tsx'

export function isWithoutWorkspace(error: Error): boolean {
  return error instanceof ServiceError && error.reason === 'no_workspace'
}

/** Signed in, but in no workspace: a person can wait for an invite, create a workspace, or use another account. */
export function NoWorkspace(): ReactElement {
  const [name, setName] = useState('')
  const create = useMutation({
    mutationFn: async () => {
      const { workspaces } = clientOf()
      const { workspace } = await workspaces.create({ name: name.trim() })
      await workspaces.switch({ workspace_id: workspace.id })
    },
    onSuccess: () => location.assign('/'),
  })
  const leave = useMutation({
    mutationFn: () => callSession('DELETE'),
    onSuccess: () => location.assign('/sign-in'),
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    create.mutate()
  }
  return (
    <div className="grid h-full grid-cols-[minmax(0,400px)] place-content-center p-8 max-md:px-[18px]">
      <h1 className="text-lead font-title">You are not a member of any workspace</h1>
      <p className="mt-1 text-ink-3">
        Ask an admin of a workspace to invite you, then open the link of the invite. You can also create a workspace.
      </p>
      <form className="mt-5" aria-label="New workspace" onSubmit={submit}>
        <Field
          label="Workspace name"
          required
          maxLength={LIMITS.nameCharsMax}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <RefusedLine error={create.error ?? leave.error} />
        <div className="mt-3.5 flex flex-wrap gap-2">
          <Button kind="primary" type="submit" disabled={name.trim() === '' || create.isPending}>
            Create workspace
          </Button>
          <Button disabled={leave.isPending} onClick={() => leave.mutate()}>
            Sign in with another account
          </Button>
        </div>
      </form>
      <p className="mt-5 border-t border-line pt-3 text-ink-3">
        <a className="inline-flex min-h-6 items-center text-accent underline" href="/account">
          Open your account
        </a>{' '}
        to confirm your email address, change how you sign in, or delete the account.
      </p>
    </div>
  )
}
