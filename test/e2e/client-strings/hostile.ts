import fc from 'fast-check'

/** Text that clients may choose: hostile, and sometimes equal to earlier text. */
export const hostile = fc.oneof(
  fc.constantFrom(
    ...['', '\0', 'a\0b', '\ud800', 'a\udfff', '\udc00\ud800', '__proto__', 'constructor', 'toString'],
    ...['|', 'a|b', '=1:a', '{a}', 'hg:3:x:{a}', '\u202eadmin', '👩‍👩‍👧', 'é', 'e\u0301', 'מלך', '\ufeff'],
    ...[
      'a\rb',
      'a\nb',
      '\r',
      '\n',
      'a\r\nX-Key: b',
      '%',
      '%00',
      '%zz',
      ' ',
      '\t',
      'undefined',
      'null',
      '127.0.0.1',
    ],
    ...['x'.repeat(1024), 'x'.repeat(1025), '👩'.repeat(512), '👩'.repeat(513), 'é'.repeat(3000)],
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({ minLength: 1020, maxLength: 1030 }),
)
