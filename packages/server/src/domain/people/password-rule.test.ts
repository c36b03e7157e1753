import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validatePassword } from './password-rule.ts'

const refused = (password: string, email: string | null = null): string =>
  validatePassword(password, email) ?? assert.fail(`${password} was accepted`)

test('a password has at least 12 characters, however many bytes they take', () => {
  assert.match(refused('tiger lamp 9'.slice(0, 11)), /11 characters; use at least 12/)
  assert.match(refused('🙂🙃😉😊😋'), /5 characters/)
  assert.equal(validatePassword('tiger lamp 9', null), undefined)
})

test('a common password with digits and signs around it, twice, or in leet is refused', () => {
  for (const password of [
    'Password2026!',
    'P@ssw0rd!!!!',
    'passwordpassword',
    'QWERTY123456',
    'Welcome12345',
    '!!letmein!!!2026',
    'iloveyou1234',
    'administrator',
    'Summer2026!!',
    'qwertyuiop12',
    'correcthorsebatterystaple',
  ]) {
    assert.match(refused(password), /among the first that attackers try/, password)
  }
})

test('runs of keys, repetitions and few different characters are refused', () => {
  for (const password of [
    '123456789012',
    '1q2w3e4r5t6y',
    '1qaz2wsx3edc',
    'abcdefghijkl',
    '987654321098',
    'qwertyuiopasdfghjkl',
    'abcabcabcabc',
    'aaaaaaaaaaaa',
    '1111122222333',
  ])
    refused(password)
})

test('a password that is little more than the email address is refused', () => {
  assert.match(refused('marianne.holt99', 'marianne.holt@example.com'), /email address/)
  assert.match(refused('marianne2026!', 'marianne@example.com'), /email address/)
  assert.equal(validatePassword('marianne walks to the mill', 'marianne@example.com'), undefined)
})

test('the recommended kinds of passwords are accepted', () => {
  for (const password of [
    'orchard tiger lamp violet',
    'x7#Kp2!vQm9zL',
    'the mill closes at nine',
    'Brückenkopf am Fluß',
    'ночной поезд до моря',
    'gVz8QmW2xTnB',
  ])
    assert.equal(validatePassword(password, 'a@b.example'), undefined, password)
})
