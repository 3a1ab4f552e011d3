import { ProcessWriter } from '../../../../src/dashboard/shared/process-document.js'
import { processSlots } from '../../../../src/dashboard/shared/process-slots.js'
import { sharedDocuments } from './shared-documents.js'

const NOW_MS = 1_790_000_000_000

const headerOf = (id: string, atMs: number) => ({
  ...{ id, host: 'web', pid: 1, version: '1.0.0', startedAtMs: NOW_MS - 3_600_000 },
  ...{ dashboard: 0, atMs, everyMs: 10_000 },
})
const textOf = (id: string, atMs: number) => new ProcessWriter().figures(headerOf(id, atMs), [])

test('after 1,024 processes within an hour, another takes the slot of one that has ended', async () => {
  const { documents, texts } = sharedDocuments()
  for (let i = 0; i < 1024; i++)
    texts.set(`processes/${i}`, textOf(`old-${i}`, i === 700 ? NOW_MS - 61_000 : NOW_MS - 59_000))
  const slots = processSlots(documents, 'processes', () => true)
  const write = (id: string) => slots.write(headerOf(id, NOW_MS), textOf(id, NOW_MS))
  await write('new')
  expect(texts.get('processes/700')).toContain('"new"')
  await write('new')
  await expect(write('another')).rejects.toThrow('more than 1024 dashboards report to this store')
  expect(texts.size).toBe(1024)
})
