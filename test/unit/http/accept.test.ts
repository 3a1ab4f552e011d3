import express from 'express'
import fc from 'fast-check'
import { preferredType } from '../../../src/http/accept.js'

const OFFERED = ['text/plain', 'application/problem+json', 'application/json']

test.each([
  ['text/plain', 'text/plain'],
  ['application/json', 'application/json'],
  ['application/json, text/plain', 'application/json'],
  ['text/plain;q=0.5, application/json', 'application/json'],
  ['application/json;q=0.5, text/plain', 'text/plain'],
  ['*/*', 'text/plain'],
  ['application/*', 'application/problem+json'],
  ['application/*, application/json', 'application/json'],
  ['*/*;q=0.1, application/json;q=0', 'text/plain'],
  ['text/*;q=0, application/json', 'application/json'],
  ['APPLICATION/JSON', 'application/json'],
  ['application/json;charset=utf-8', 'application/json'],
  ['application/json; charset="utf-8"; q=0.9, text/plain;q=0.8', 'application/json'],
  ['application/json;version=1', undefined],
  ['application/json;q=0', undefined],
  ['text/html', undefined],
  ['', undefined],
  ['application', undefined],
  [',,;q=1,/', undefined],
])('of %j, the preferred type is %s', (accept, preferred) => {
  expect(preferredType(accept, OFFERED)).toBe(preferred)
})

test('chooses as req.accepts of Express does', () => {
  const type = fc.constantFrom('text', 'application', '*', 'TEXT')
  const subtype = fc.constantFrom('plain', 'json', 'problem+json', 'html', '*')
  const weight = fc.constantFrom('', ';q=1', ';q=0', ';q=0.5', '; q=0.123', ';version=1', ' ;q=0.9')
  const range = fc.tuple(type, subtype, weight).map(([a, b, c]) => `${a}/${a === '*' ? '*' : b}${c}`)
  const separator = fc.constantFrom(',', ', ', ' ,')
  const header = fc.tuple(fc.array(range, { minLength: 1, maxLength: 6 }), separator)
  fc.assert(
    fc.property(header, ([ranges, comma]) => {
      const accept = ranges.join(comma)
      const request = Object.create(express.request, { headers: { value: { accept } } })
      const expected = request.accepts(OFFERED)
      expect(preferredType(accept, OFFERED)).toBe(expected || undefined)
    }),
    { numRuns: 3000 },
  )
})
