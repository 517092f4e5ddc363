CREATE TABLE builds (number INTEGER PRIMARY KEY, ticket TEXT, component TEXT, outcome TEXT, built_on TEXT);
INSERT INTO builds VALUES
  (811, '{earlier}', 'C-40', 'passed', '2024-05-21'),
  (934, '{ticket}', '{formerly}', 'failed', '2024-11-19');
