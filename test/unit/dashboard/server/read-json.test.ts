import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { readJson } from '../../../../src/dashboard/server/read-json.js'

/** Returns a request with a body, which is sent in two chunks. */
function requestOf(body: string | Buffer, type: string | undefined = 'application/json'): IncomingMessage {
  const req = new IncomingMessage(new Socket())
  if (type !== '') req.headers['content-type'] = type
  const bytes = Buffer.from(body)
  req.push(bytes.subarray(0, bytes.length / 2))
  req.push(bytes.subarray(bytes.length / 2))
  req.push(null)
  return req
}

/** Returns a request whose body a parser has read. */
async function parsedRequest(text: string, body: unknown): Promise<IncomingMessage> {
  const req = requestOf(text)
  for await (const _ of req);
  return Object.assign(req, { body })
}

test.each(['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON'])(
  'reads %s',
  async (type) => {
    expect(await readJson(requestOf('{"identity":"é"}', type))).toEqual({ identity: 'é' })
  },
)

test.each([
  ['text/plain', 'text/plain'],
  ['a form', 'application/x-www-form-urlencoded'],
  ['a longer type', 'application/json-seq'],
  ['no type', ''],
])('answers 415 to %s', async (_, type) => {
  await expect(readJson(requestOf('{}', type))).rejects.toMatchObject({ status: 415 })
})

test.each([
  ['no JSON', '{', 'The body is not JSON.'],
  ['nothing', '', 'The body is not JSON.'],
  ['a list', '[]', 'The body must be a JSON object.'],
  ['null', 'null', 'The body must be a JSON object.'],
  ['a string', '"identity"', 'The body must be a JSON object.'],
])('answers 400 to %s', async (_, body, message) => {
  await expect(readJson(requestOf(body))).rejects.toMatchObject({ status: 400, message })
})

test('reads 256 KB, and answers 413 to a byte more', async () => {
  const padded = (length: number) => `{"identity":"${'x'.repeat(length - 15)}"}`
  expect(await readJson(requestOf(padded(262_144)))).toHaveProperty('identity')
  await expect(readJson(requestOf(padded(262_145)))).rejects.toMatchObject({
    status: 413,
    message: 'The body is larger than 262144 bytes.',
  })
})

test('answers 400 to a client that hangs up within the body', async () => {
  const req = new IncomingMessage(new Socket())
  req.headers['content-type'] = 'application/json'
  req.push('{')
  const read = readJson(req)
  req.destroy(new Error('aborted'))
  await expect(read).rejects.toMatchObject({ status: 400, message: 'The request was aborted.' })
})

test('takes what a body parser has read', async () => {
  const text = '{"identity":"ada"}'
  expect(await readJson(await parsedRequest(text, { identity: 'ada' }))).toEqual({ identity: 'ada' })
  await expect(readJson(await parsedRequest(text, text))).rejects.toMatchObject({ status: 400 })
  await expect(readJson(await parsedRequest(text, undefined))).rejects.toMatchObject({ status: 400 })
})

test('reads a body that the parsers of Express 4 have left, with an empty object in its place', async () => {
  const req = Object.assign(requestOf('{"identity":"ada"}'), { body: {} })
  expect(await readJson(req)).toEqual({ identity: 'ada' })
})

test('the names of an object are plain data', async () => {
  const body = await readJson(requestOf('{"__proto__":{"identity":"ada"},"constructor":1}'))
  expect(body.identity).toBeUndefined()
  expect(Object.keys(body)).toEqual(['__proto__', 'constructor'])
})
