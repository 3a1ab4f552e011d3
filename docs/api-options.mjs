import { readFileSync } from 'node:fs'
import { Comment, CommentTag, ReflectionKind } from 'typedoc'

/** The options of `rateLimit` in the order in which its page explains them. */
const guide = readFileSync(new URL('options.md', import.meta.url), 'utf8')
const ORDER = Array.from(guide.matchAll(/^\| `(\w+)` \|/gm), ([, name]) => name)

/** Adds a table of the options that a function takes, one sentence each, to the function's page. */
export function listOptions(declaration) {
  const [signature] = declaration.signatures ?? []
  const parameter = signature?.parameters?.find(({ name }) => name === 'options')
  if (parameter === undefined) return
  const members = new Map()
  for (const member of membersOf(parameter.type, new Set()))
    if (!members.has(member.name)) members.set(member.name, member)
  const rows = [...members.values()].filter(({ flags }) => !flags.isInternal)
  if (rows.length < 2) return
  rows.sort((a, b) => placeOf(a) - placeOf(b))
  const parts = [text('| option | meaning |\n|---|---|\n')]
  for (const member of rows) parts.push(text('| '), link(member), text(` | ${meaning(member)} |\n`))
  const commented = declaration.comment ?? signature.comment
  commented?.blockTags.push(new CommentTag('@options', parts))
}

/** The members of a type: of an interface, of a literal, and of what aliases and intersections are made of. */
function membersOf(type, seen) {
  if (type === undefined || seen.has(type)) return []
  seen.add(type)
  if (type.type === 'intersection' || type.type === 'union')
    return type.types.flatMap((each) => membersOf(each, seen))
  if (type.type === 'reflection') return type.declaration.children ?? []
  if (type.type !== 'reference' || type.reflection === undefined) return []
  const { reflection } = type
  return reflection.children ?? membersOf(reflection.type, seen)
}

/** What the comment on an option says first. */
function meaning(member) {
  const { summary = [] } =
    member.comment ?? member.getSignature?.comment ?? member.signatures?.[0]?.comment ?? {}
  return firstSentence(Comment.combineDisplayParts(summary)).replaceAll('|', '\\|')
}

/** Returns the first sentence of a text. */
export function firstSentence(prose) {
  const line = prose.replace(/\s+/g, ' ').trim()
  return /^.*?\.(?= [A-Z`'"]|$)/.exec(line)?.[0] ?? line
}

/** Options that the guide does not have keep their order, after those that it has. */
function placeOf({ name }) {
  const place = ORDER.indexOf(name)
  return place < 0 ? ORDER.length : place
}

function text(content) {
  return { kind: 'text', text: content }
}

function link(member) {
  if (member.parent?.kindOf(ReflectionKind.TypeLiteral)) return text(`\`${member.name}\``) // has no page
  return { kind: 'inline-tag', tag: '@link', target: member, text: member.name }
}
