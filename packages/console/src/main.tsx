import './styles.css' // oxlint-disable-line import/no-unassigned-import -- a stylesheet has no name
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createAsking } from './data/asking.ts'
import { createConsoleRouter } from './routes.tsx'

const root = document.querySelector('#root')
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={createAsking()}>
        <RouterProvider router={createConsoleRouter()} />
      </QueryClientProvider>
    </StrictMode>,
  )
}
