import { Comment, CommentTag, ReflectionKind } from 'typedoc'

/** The options that most limits set, which tables have first. */
const FIRST = ['field', 'account', 'limit', 'window', 'policy', 'limits', 'key', 'cost', 'name', 'store']

/** Adds a table of the options that a function takes, one sentence each, to the function's page. */
export function listOptions(declaration) {
  const [signature] = declaration.signatures ?? []
  const parameter = signature?.parameters?.find(({ name }) => name === 'options' || name === 'setup')
  if (parameter === undefined) return
  const members = new Map()
  for (const member of membersOf(parameter.type, new Set()))
    if (!members.has(member.name)) members.set(member.name, member)
  const rows = [...members.values()].filter(({ flags }) => !flags.isInternal).sort(byUse)
  if (rows.length < 2) return
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

/** Compares options: those of `FIRST` come first, and the others stay in the order of their declarations. */
function byUse(a, b) {
  const place = ({ name }) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length)
  return place(a) - place(b)
}

/** What the comment on an option says first. */
function meaning(member) {
  const [signature] = member.signatures ?? member.type?.declaration?.signatures ?? []
  const { summary = [] } = member.comment ?? member.getSignature?.comment ?? signature?.comment ?? {}
  return firstSentence(Comment.combineDisplayParts(summary)).replaceAll('|', '\\|')
}

/** Returns the first sentence of a text. */
export function firstSentence(prose) {
  const line = prose.replace(/\s+/g, ' ').trim()
  return /^.*?\.(?= [A-Z`'"]|$)/.exec(line)?.[0] ?? line
}

function text(content) {
  return { kind: 'text', text: content }
}

function link(member) {
  if (member.parent?.kindOf(ReflectionKind.TypeLiteral)) return text(`\`${member.name}\``) // has no page
  return { kind: 'inline-tag', tag: '@link', target: member, text: member.name }
}
