import 'reflect-metadata'
import { byField, byUser, type KeyFunction } from 'headgate'
import { callOf } from '../../../../src/adapters/nest/call.js'
import { requestAndResponse } from '../../../support/request-response.js'
import { contextOf } from './contexts.js'

describe('a message of a WebSocket', () => {
  const messageOf = (client: object, ...rest: unknown[]) =>
    callOf(contextOf('ws', [client, { text: 'hi' }, ...rest, 'chat']))?.req as Record<string, unknown>

  test.each<[string, object, unknown]>([
    ['its client has', { user: 'a', data: { user: 'b' }, request: { user: 'c' } }, 'a'],
    ['the data of its client have', { data: { user: 'b' }, request: { user: 'c' } }, 'b'],
    ['the request that opened its connection has', { request: { user: 'c' } }, 'c'],
    ['nobody has', {}, undefined],
  ])('is of the user that %s', (_, client, user) => {
    expect(messageOf(client).user).toBe(user)
  })

  test('has the address of its connection, the name of its event, and what the client sent', () => {
    const [socket, opened] = [{ remoteAddress: '192.0.2.1' }, { remoteAddress: '192.0.2.2' }]
    expect(messageOf({ _socket: socket })).toMatchObject({ socket, headers: {}, body: { text: 'hi' } })
    expect(messageOf({ _socket: socket, request: { socket: opened } })).toMatchObject({ socket: opened })
    expect(messageOf({}, () => 'acknowledged')).toMatchObject({ route: { path: 'chat' } })
    expect((byField('text') as KeyFunction<object>)(messageOf({}))).toBeDefined()
  })

  test('records the decision at itself and at its client', () => {
    const client = {}
    const message = messageOf(client)
    message.rateLimit = 'a decision'
    expect([message.rateLimit, client]).toEqual(['a decision', { rateLimit: 'a decision' }])
    expect(Object.keys(message)).toContain('rateLimit')
  })
})

describe('a field of GraphQL', () => {
  const info = { fieldName: 'users', parentType: { name: 'Query' } }
  const { res } = requestAndResponse()
  const callFor = (context: object) => callOf(contextOf('graphql', [{}, { id: 7 }, context, info]))

  test.each<[string, object]>([
    ['req and res', { req: { user: { id: 'ada' } }, res }],
    ['request and response', { request: { user: { id: 'ada' } }, response: res }],
    ['a reply', { reply: { request: { user: { id: 'ada' } }, setHeader() {} } }],
  ])('of a context with %s has its request and its response', (_, context) => {
    const call = callFor(context)
    expect((byUser() as KeyFunction<object>)(call?.req as object)).toBeDefined()
    expect(call?.req).toMatchObject({ user: { id: 'ada' }, body: { id: 7 }, route: { path: 'Query.users' } })
    expect(call?.res).toBeDefined()
  })

  test('of a context without any has neither', () => {
    for (const context of [{}, undefined as never]) {
      const call = callFor(context)
      expect(call?.req).toMatchObject({ body: { id: 7 } })
      expect(call?.res).toBeUndefined()
    }
  })

  test('is told from arguments that look like it', () => {
    for (const like of [{ fieldName: 'a' }, { fieldName: 1, parentType: { name: 'A' } }, { parentType: {} }])
      expect(callOf(contextOf('graphql', [{}, like, {}, info]))?.req).toMatchObject({ body: like })
  })
})
