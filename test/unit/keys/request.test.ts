import { byIp } from 'headgate'
import { isDisconnectedError } from '../../../src/keys/request.js'

/** What byIp throws for a subject. */
function thrownFor(subject: unknown): unknown {
  try {
    byIp()(subject)
  } catch (error) {
    return error
  }
  return undefined
}

test.each<[string, object]>([
  ['whose socket is destroyed', { socket: { destroyed: true } }],
  ['whose HTTP/2 stream is destroyed', { socket: {}, stream: { destroyed: true } }],
])('the address of a request %s is unknown: byIp throws an error of its own kind', (_what, request) => {
  const error = thrownFor(request)
  expect(error).toMatchObject({ name: 'DisconnectedError', code: 'HEADGATE_DISCONNECTED' })
  expect(isDisconnectedError(error)).toBe(true)
})

test('the address of a closed connection is known if it was read before', () => {
  expect(thrownFor({ socket: { destroyed: true, remoteAddress: '192.0.2.1' } })).toBeUndefined()
})

test.each([undefined, null, 'HEADGATE_DISCONNECTED', new Error('other'), { code: 'ECONNRESET' }])(
  '%p is not that error',
  (value) => expect(isDisconnectedError(value)).toBe(false),
)
