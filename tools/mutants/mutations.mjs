/**
 * What can be broken in a source file: one small change at a time, found in its syntax tree.
 *
 * Types, imports and sentences for people stay as they are. A change that the compiler refuses is noticed by the build: it is
 * made all the same, since leaving out what may be absent, such as an optional property, can't be told from that here.
 */
import ts from 'typescript'

/**
 * @typedef {object} Mutation
 * @property {string} operator - what kind of change it is
 * @property {number} start - where in the source it begins
 * @property {number} end - where in the source it ends
 * @property {string} replacement - what stands there instead
 * @property {number} line - counted from 1
 * @property {string} code - the line as it is, trimmed
 * @property {string} change - `what was → what is`, on one line
 */

const { SyntaxKind } = ts

/** Binary operators, and what stands in their place. */
const swaps = new Map([
  [SyntaxKind.LessThanToken, ['comparison', '<=']],
  [SyntaxKind.LessThanEqualsToken, ['comparison', '<']],
  [SyntaxKind.GreaterThanToken, ['comparison', '>=']],
  [SyntaxKind.GreaterThanEqualsToken, ['comparison', '>']],
  [SyntaxKind.EqualsEqualsEqualsToken, ['comparison', '!==']],
  [SyntaxKind.ExclamationEqualsEqualsToken, ['comparison', '===']],
  [SyntaxKind.PlusToken, ['arithmetic', '-']],
  [SyntaxKind.MinusToken, ['arithmetic', '+']],
  [SyntaxKind.AsteriskToken, ['arithmetic', '/']],
  [SyntaxKind.SlashToken, ['arithmetic', '*']],
  [SyntaxKind.PercentToken, ['arithmetic', '*']],
  [SyntaxKind.PlusEqualsToken, ['arithmetic', '-=']],
  [SyntaxKind.MinusEqualsToken, ['arithmetic', '+=']],
  [SyntaxKind.AmpersandAmpersandToken, ['logic', '||']],
  [SyntaxKind.BarBarToken, ['logic', '&&']],
])

/** The kinds of change, by the word that `--only` takes. */
export const operators = [
  'condition',
  'comparison',
  'arithmetic',
  'logic',
  'await',
  'statement',
  'anchor',
  'number',
  'absent',
  'string',
]

/**
 * Every change of one source file, in the order of the file.
 *
 * @param {string} source - TypeScript
 * @returns {Mutation[]}
 */
export function mutationsOf(source) {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true)
  /** @type {Mutation[]} */
  const found = []

  /**
   * @param {string} operator
   * @param {number} start
   * @param {number} end
   * @param {string} replacement
   */
  const addRange = (operator, start, end, replacement) => {
    const { line } = file.getLineAndCharacterOfPosition(start)
    const code = source.split('\n')[line]?.trim() ?? ''
    const change = `${short(source.slice(start, end))} → ${short(replacement) || 'nothing'}`
    found.push({ operator, start, end, replacement, line: line + 1, code, change })
  }
  /**
   * @param {string} operator
   * @param {ts.Node} node
   * @param {string} replacement
   */
  const add = (operator, node, replacement) => addRange(operator, node.getStart(file), node.getEnd(), replacement)

  /** @param {ts.Node} node */
  const visit = (node) => {
    if (isUntouched(node)) return
    if (ts.isIfStatement(node) || ts.isWhileStatement(node)) conditionOf(node.expression)
    else if (ts.isConditionalExpression(node)) conditionOf(node.condition)
    else if (ts.isBinaryExpression(node)) binary(node)
    else if (ts.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken) {
      add('condition', node, node.operand.getText(file))
    } else if (ts.isAwaitExpression(node)) add('await', node, node.expression.getText(file))
    else if (ts.isExpressionStatement(node) && isCall(node.expression)) add('statement', node, ';')
    else if (ts.isRegularExpressionLiteral(node)) anchorsOf(node)
    else if (ts.isNumericLiteral(node)) numberOf(node)
    else if (isMember(node)) {
      addRange('absent', node.getStart(file), endWithComma(source, node.getEnd()), '')
    } else if (isWord(node)) add('string', node, "''")
    ts.forEachChild(node, visit)
  }

  /** @param {ts.Expression} condition */
  const conditionOf = (condition) => {
    if (!isFlippedElsewhere(condition)) add('condition', condition, `!(${condition.getText(file)})`)
    // Both ways, so that neither branch can be dead.
    add('condition', condition, 'true')
    add('condition', condition, 'false')
  }

  /** @param {ts.BinaryExpression} node */
  const binary = (node) => {
    const swap = swaps.get(node.operatorToken.kind)
    if (swap) add(swap[0] ?? '', node.operatorToken, swap[1] ?? '')
    if (node.operatorToken.kind === SyntaxKind.QuestionQuestionToken) add('logic', node, node.left.getText(file))
  }

  /** @param {ts.RegularExpressionLiteral} node */
  const anchorsOf = (node) => {
    const text = node.getText(file)
    const close = text.lastIndexOf('/')
    const pattern = text.slice(1, close)
    const flags = text.slice(close)
    if (pattern.startsWith('^') && pattern.length > 1) add('anchor', node, `/${pattern.slice(1)}${flags}`)
    if (/(?<!\\)(?:\\\\)*\$$/u.test(pattern) && pattern.length > 1)
      add('anchor', node, `/${pattern.slice(0, -1)}${flags}`)
  }

  /** @param {ts.NumericLiteral} node */
  const numberOf = (node) => {
    const value = Number(node.getText(file).replaceAll('_', ''))
    add('number', node, String(value + 1))
    add('number', node, value === 0 ? '(-1)' : String(value - 1))
  }

  visit(file)
  return found
}

/**
 * The source with one change made.
 *
 * @param {string} source
 * @param {Mutation} mutation
 */
export function mutated(source, { start, end, replacement }) {
  return source.slice(0, start) + replacement + source.slice(end)
}

/**
 * Types, imports, what an error says, and names of properties.
 *
 * @param {ts.Node} node
 */
function isUntouched(node) {
  if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true
  if (ts.isImportDeclaration(node) || (ts.isExportDeclaration(node) && node.moduleSpecifier)) return true
  return ts.isCallExpression(node) && node.expression.kind === SyntaxKind.ImportKeyword
}

/**
 * Negations and equalities are turned round by a mutation of their own.
 *
 * @param {ts.Expression} condition
 */
function isFlippedElsewhere(condition) {
  if (ts.isPrefixUnaryExpression(condition)) return condition.operator === SyntaxKind.ExclamationToken
  if (!ts.isBinaryExpression(condition)) return false
  const { kind } = condition.operatorToken
  return kind === SyntaxKind.EqualsEqualsEqualsToken || kind === SyntaxKind.ExclamationEqualsEqualsToken
}

/** @param {ts.Expression} expression */
function isCall(expression) {
  const inner = ts.isVoidExpression(expression) || ts.isAwaitExpression(expression) ? expression.expression : expression
  return ts.isCallExpression(inner) && inner.expression.kind !== SyntaxKind.SuperKeyword
}

/**
 * A member of an object literal that is no sentence for people.
 *
 * @param {ts.Node} node
 */
function isMember(node) {
  if (ts.isPropertyAssignment(node))
    return !(ts.isStringLiteralLike(node.initializer) && /\s/u.test(node.initializer.text))
  return ts.isSpreadAssignment(node) || ts.isShorthandPropertyAssignment(node)
}

/**
 * A text that programs read: sentences have spaces, and are for people.
 *
 * @param {ts.Node} node
 */
function isWord(node) {
  if (!ts.isStringLiteral(node) || node.text === '' || /\s/u.test(node.text)) return false
  const { parent } = node
  return !(ts.isPropertyAssignment(parent) && parent.name === node) && !isInError(node)
}

/**
 * Whether it is part of what a new error says.
 *
 * @param {ts.Node} node
 */
function isInError(node) {
  const { parent } = node
  return ts.isNewExpression(parent) && parent.expression.getText().endsWith('Error')
}

/**
 * The end of an element of a list, with the comma after it.
 *
 * @param {string} source
 * @param {number} end
 */
function endWithComma(source, end) {
  const comma = /^\s*,/u.exec(source.slice(end))
  return comma ? end + comma[0].length : end
}

/** @param {string} text */
function short(text) {
  const line = text.replaceAll(/\s+/gu, ' ')
  return line.length > 60 ? `${line.slice(0, 57)}...` : line
}
