import express, { type RequestHandler } from 'express'
import { loginGuard, memoryStore } from 'headgate'
import supertest from 'supertest'
import { recordWarnings } from '../../support/warnings.js'

const warnings = recordWarnings()

/** Sends a body to a login, and returns the status. */
async function post(
  body: object | string,
  type = 'application/json',
  field = 'username',
  ...parsers: RequestHandler[]
) {
  const guard = loginGuard({ field, store: memoryStore() })
  const parse = parsers.length > 0 ? parsers : [express.json()]
  const app = express().post('/login', ...parse, guard, (_req, res) => void res.sendStatus(200))
  return (await supertest(app).post('/login').type(type).send(body)).status
}

const message = () => String(jest.mocked(process.emitWarning).mock.calls[0]?.[0])

test('a body without the field gets 400, and a warning that names the field and the names in the body', async () => {
  expect(await post({ email: 'ada@example.com', password: 'analytical engine' })).toBe(400)
  expect(warnings()).toEqual(['HEADGATE_LOGIN_FIELD'])
  expect(message()).toBe(
    'headgate: loginGuard "login" found no field "username", so it responded with 400. ' +
      'The body has "email", "password". Set field to the one with the user name. ' +
      'See https://headgate.github.io/headgate/troubleshooting#headgate_login_field',
  )
})

test('the warning comes once for each field, whatever clients send', async () => {
  for (const field of ['user', 'user', 'name']) await post({ a: 1 }, 'application/json', field)
  expect(warnings()).toEqual(['HEADGATE_LOGIN_FIELD', 'HEADGATE_LOGIN_FIELD'])
})

test('the warning is bounded, on one line, and shows neither values nor what looks like a credential', async () => {
  const names = ['\u001b[31m\n', `${'x'.repeat(99)}`, 'redis://user:secret@host', ...'abcdefghij']
  await post(Object.fromEntries(names.map((name) => [name, 'a value'])))
  expect(message()).toContain(
    `"\\u001b[31m\\n", "${'x'.repeat(57)}...", "…", "a", "b", "c", "d", "e" and 5 others.`,
  )
  expect(message()).not.toMatch(/secret|a value|\n/)
})

test.each<[string, string, object | string, RequestHandler, string]>([
  [
    'of a type that no parser reads',
    'text/plain',
    'username=ada',
    express.json(),
    'No body was parsed (content type: "text/plain").',
  ],
  [
    'without fields',
    'application/json',
    {},
    express.json(),
    'The parsed body has no fields (content type: "application/json").',
  ],
  [
    'that is text',
    'text/plain',
    'username=ada',
    express.text(),
    'The parsed body has no fields (content type: "text/plain").',
  ],
])('a body %s gets a hint at its parser', async (_how, type, body, parser, hint) => {
  expect(await post(body, type, 'username', parser)).toBe(400)
  expect(message()).toContain(`${hint} Mount a body parser before the guard, such as express.urlencoded()`)
})

test('a malformed name is no sign of a mistake, and emits no warning', async () => {
  expect(await post({ username: ['ada'] })).toBe(400)
  expect(warnings()).toEqual([])
})
