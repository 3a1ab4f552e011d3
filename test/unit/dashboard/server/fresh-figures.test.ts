import type { Store } from 'headgate'
import { boardOf } from '../../../../src/dashboard/board/board.js'
import { watchAll } from '../../../../src/dashboard/figures/limiter-watch.js'
import { actionsOn } from '../../../../src/dashboard/server/actions.js'
import { pageData } from '../../../../src/dashboard/server/page-data.js'
import { requestAndResponse } from '../../../support/request-response.js'
import { charge, watchedLimiter } from '../actions/watched.js'
import { sharedDocuments, sharedStore } from '../shared/shared-documents.js'

const NOW_MS = 1_790_000_000_000

/** A process whose page nobody has open: behind a balancer, the stream may be with another one. */
function unwatchedProcess(store?: Store) {
  const { limiter, watched } = watchedLimiter(store && { store })
  const watches = watchAll([watched], undefined, () => NOW_MS)
  const board = boardOf(watches, () => NOW_MS)
  const actions = actionsOn(watches, board)
  const sender = { operator: 'ines', req: undefined }
  const send = (name: string, body: object) => actions.get(name)?.run({ limiter: 'api', ...body }, sender)
  return { limiter, board, send }
}

/** Reads what a page reads. */
async function read(board: ReturnType<typeof boardOf>, name: string): Promise<string> {
  const { res } = requestAndResponse('GET')
  const ended = jest.spyOn(res, 'end').mockReturnThis()
  await pageData(board).get(name)?.(res, new URLSearchParams({ limiter: 'api' }))
  return String(ended.mock.calls[0]?.[0])
}

test('without an open page, each reply has what has happened since the last one', async () => {
  const { limiter, board, send } = unwatchedProcess()
  const proposal = () => send('proposal', { targets: [{ storedIdentity }] })
  await charge(limiter, 'acme', 4)
  const [{ identity: storedIdentity = '' } = {}] = (await board.asOfNow()).detail('api')?.denied ?? []
  expect(await proposal()).toMatchObject({ raises: [{ proposed: 10 }] })
  await charge(limiter, 'acme', 500)
  expect(await proposal()).toMatchObject({ raises: [{ proposed: 4000 }] })
  await board.stop()
})

test('the log and the marks of the history have an event of another process', async () => {
  const store = sharedStore(sharedDocuments().documents)
  const [{ board }, other] = [unwatchedProcess(store), unwatchedProcess(store)]
  const texts = async () => [await read(board, 'log'), JSON.parse(await read(board, 'history')).marks]
  expect(await texts()).toEqual(['', []])
  const author = { by: 'ines', reason: 'a mistake' }
  other.board.record({ kind: 'release', text: 'released acme', limiter: 'api', ...author })
  await other.board.tick()
  const event = expect.objectContaining({ text: 'released acme' })
  expect(await texts()).toEqual([expect.stringContaining('released acme'), expect.arrayContaining([event])])
  await Promise.all([board.stop(), other.board.stop()])
})
